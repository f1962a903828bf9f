import { createHmac, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { exportJWK, type JWK, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../settlement/clock.ts";
import type { Keyring, PublishedKey } from "./keyring.ts";

export type TokenRequest = {
  // The tool's endpoint, exactly as it was registered.
  endpoint: string;
  toolId: string;
  // Who pays. The tool gets to know a name that is this payer's with it and with no other tool.
  payer?: string;
  // Why, if it is not a payer's call.
  purpose?: "smoke-test";
};

export type Signer = {
  // A token for requests to one tool, of which at least half a minute is left.
  sign(request: TokenRequest): Promise<string>;
  // What is served as /.well-known/jwks.json, the current key first: the SDKs read no further.
  jwks(): Promise<{ keys: JWK[] }>;
};

export type SignerOptions = { issuer: string; keyring: () => Keyring; clock: Clock };

const LIFETIME_SECONDS = 120;
// A signature takes a millisecond of a core, so a token is used again for the calls that follow, for as long as the original
// keeps a connection that was opened with one.
const REUSE_MS = 90_000;
const MAX_TOKENS = 10_000;
const PSEUDONYM_CHARACTERS = 32;

export function createSigner({ issuer, keyring, clock }: SignerOptions): Signer {
  const tokens = new LRUCache<string, { token: Promise<string>; signedMs: number }>({ max: MAX_TOKENS });
  const privateKeys = new LRUCache<string, KeyObject>({ max: 2 });

  function privateKeyOf({ kid, privateKey }: Keyring["current"]): KeyObject {
    const known = privateKeys.get(kid) ?? createPrivateKey(privateKey);
    privateKeys.set(kid, known);
    return known;
  }

  async function signNow({ endpoint, toolId, payer, purpose }: TokenRequest, nowMs: number): Promise<string> {
    const { current, pseudonymSecret } = keyring();
    const issuedAt = Math.floor(nowMs / 1_000);
    const token = new SignJWT({ toolId, ...(purpose !== undefined && { purpose }) })
      .setProtectedHeader({ alg: "RS256", kid: current.kid })
      .setIssuer(issuer)
      .setAudience(endpoint)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS);
    if (payer !== undefined) token.setSubject(pseudonymOf(payer, toolId, pseudonymSecret));
    return token.sign(privateKeyOf(current));
  }

  return {
    sign(request) {
      const { endpoint, toolId, payer = "", purpose = "" } = request;
      const nowMs = clock.nowMs();
      const key = JSON.stringify([keyring().current.kid, endpoint, toolId, payer, purpose]);
      const known = tokens.get(key);
      if (known !== undefined && Math.abs(nowMs - known.signedMs) < REUSE_MS) return known.token;
      const token = signNow(request, nowMs);
      tokens.set(key, { token, signedMs: nowMs });
      token.catch(() => tokens.delete(key));
      return token;
    },

    async jwks() {
      const { current, next, retired } = keyring();
      return { keys: await Promise.all([current, next, ...retired].map(jwkOf)) };
    },
  };
}

// Tools cannot find out by trying every address whose name it is, nor compare their customers.
const pseudonymOf = (payer: string, toolId: string, secret: string): string =>
  createHmac("sha256", secret)
    .update(JSON.stringify([toolId, payer.toLowerCase()]))
    .digest("hex")
    .slice(0, PSEUDONYM_CHARACTERS);

async function jwkOf({ kid, certificate }: PublishedKey): Promise<JWK> {
  const { publicKey, raw } = new X509Certificate(certificate);
  const { kty, n, e } = await exportJWK(publicKey);
  return { kid, kty: kty ?? "RSA", use: "sig", alg: "RS256", n: n ?? "", e: e ?? "", x5c: [raw.toString("base64")] };
}

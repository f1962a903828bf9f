import { type Address, type Hex, verifyMessage, zeroAddress } from "viem";
import { createSiweMessage, generateSiweNonce, parseSiweMessage } from "viem/siwe";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { Store } from "../database/openStore.ts";
import { forgetNonces, insertNonce, useNonce } from "./nonces.ts";

// A message of Sign-In with Ethereum (EIP-4361) and the wallet's signature of it.
export type Signed = { message: string; signature: Hex };

// Whether an account that is a contract stands by a signature (ERC-1271, and ERC-6492 for one that is not deployed yet).
export type VerifyContract = (signed: Signed & { address: Address }) => Promise<boolean>;

export type SignInOptions = {
  store: Store;
  clock: Clock;
  publicUrl: string;
  chainId: number;
  verifyContract: VerifyContract;
};

export type SignIn = {
  // The message that a wallet is to sign. What a signature is for stands in it, so that it is good for nothing else.
  challenge(wallet: Address, statement: string): Promise<{ message: string; expiresAtMs: number }>;
  // The wallet that has signed, or a refusal that says why. The nonce in the message is used up.
  verify(signed: Signed, statement: string): Promise<Address>;
};

const NONCE_MS = 10 * 60 * 1_000;
// How many are given out before it is looked which of them are to be forgotten.
const FORGET_EVERY = 256;

export const SIGN_IN = "Sign in to the marketplace.";
export const linkStatement = (account: string) => `Link this wallet to the marketplace account ${account}.`;

export function createSignIn({ store, clock, publicUrl, chainId, verifyContract }: SignInOptions): SignIn {
  const { host: domain, protocol } = new URL(publicUrl);
  const scheme = protocol.slice(0, -1);
  let given = 0;
  return {
    async challenge(address, statement) {
      const nowMs = clock.nowMs();
      const nonce = generateSiweNonce();
      const expiresAtMs = nowMs + NONCE_MS;
      given += 1;
      if (given % FORGET_EVERY === 1) await store.alone((sql) => forgetNonces(sql, nowMs));
      await store.shared((sql) => insertNonce(sql, nonce, expiresAtMs));
      const message = createSiweMessage({
        domain,
        address,
        statement,
        uri: publicUrl,
        version: "1",
        chainId,
        nonce,
        issuedAt: new Date(nowMs),
        expirationTime: new Date(expiresAtMs),
      });
      return { message, expiresAtMs };
    },

    async verify({ message, signature }, statement) {
      const nowMs = clock.nowMs();
      const parsed = parseSiweMessage(message);
      const { address, nonce, issuedAt, expirationTime } = parsed;
      if (address === undefined || nonce === undefined) throw refused("this is no message of Sign-In with Ethereum");
      // What a signature of nobody recovers to.
      if (address === zeroAddress) throw refused("the zero address is nobody's");
      if (parsed.domain !== domain || (parsed.scheme !== undefined && parsed.scheme !== scheme)) {
        throw refused(`the message is for another site than ${domain}`);
      }
      if (parsed.uri !== publicUrl) throw refused(`the message's URI must be ${publicUrl}`);
      if (parsed.version !== "1") throw refused("the message's version must be 1");
      if (parsed.chainId !== chainId) throw refused(`the message is for another chain than ${chainId}`);
      if (parsed.statement !== statement) throw refused(`the message must say: ${statement}`);
      if (expirationTime !== undefined && expirationTime.getTime() <= nowMs) throw refused("the message has expired");
      // What was read of it is all of it: a line more, or a time that is none, would be passed over.
      const whole = { domain, address, statement, uri: publicUrl, version: "1", chainId, nonce } as const;
      if (!isWhole(message, { ...whole, issuedAt, expirationTime })) {
        throw refused("the message must be the one that was given, word for word");
      }
      // Before anything is looked up elsewhere, so that a stranger without a nonce costs nobody a question to the chain; and
      // used up even if the signature is wrong, so that one nonce is one guess.
      if (!(await store.alone((sql) => useNonce(sql, nonce, nowMs)))) {
        throw refused("the nonce is unknown, used or too old; ask for another message");
      }
      const isOwn = await verifyMessage({ address, message, signature }).catch(() => false);
      if (!isOwn && !(await verifyContract({ address, message, signature }))) {
        throw refused(`the signature is not that of ${address}`);
      }
      return address.toLowerCase() as Address;
    },
  };
}

function isWhole(message: string, fields: Parameters<typeof createSiweMessage>[0]): boolean {
  const { issuedAt, expirationTime } = fields;
  if (issuedAt === undefined || expirationTime === undefined) return false;
  try {
    return createSiweMessage(fields) === message;
  } catch {
    // A time that is none, or an address that is none.
    return false;
  }
}

const refused = (reason: string) => new ApiError("unauthorized", reason);

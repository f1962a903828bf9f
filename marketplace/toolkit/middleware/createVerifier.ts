import { createPublicKey, type KeyObject } from "node:crypto";
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from "jose";

export type ContextClaims = {
  iss: string;
  aud: string | string[];
  toolId: string;
  iat: number;
  exp: number;
  // The payer's name with this tool.
  sub?: string;
  purpose?: string;
  [claim: string]: unknown;
};

export type VerifierOptions = {
  // The tool's endpoint, exactly as it was registered. A token for another endpoint is good for nothing here.
  audience: string;
  // The tool's id. Without it whoever lists this endpoint first is paid for what is answered here. With it the server says in
  // its answers that it is this tool, so that nobody else lists it, and refuses calls that were sold as another one.
  toolId?: string;
  // The marketplace whose calls are taken.
  issuer?: string;
  // Where its keys are, or its key itself as PEM (a public key or a certificate). From the issuer unless told.
  jwksUrl?: string;
  publicKey?: string;
};

export type Verifier = (authorization: string | undefined) => Promise<ContextClaims>;

// Whoever asks is not the marketplace, or not for this tool.
export class UnauthorizedError extends Error {
  override readonly name = "UnauthorizedError";
  readonly code = "unauthorized";
  readonly statusCode = 401;
}

// What the marketplace names as tool and purpose while it tries a server out; nobody is shown what it answers then.
const SMOKE_TEST = "smoke-test";
const DEFAULT_ISSUER = "https://ctxprotocol.com";
const JWKS_TIMEOUT_MS = 5_000;
const JWKS_MAX_AGE_MS = 3_600_000;
// For clocks that do not quite agree.
const CLOCK_TOLERANCE_SECONDS = 5;

export function createVerifier(options: VerifierOptions): Verifier {
  const { audience, issuer = DEFAULT_ISSUER, publicKey } = options;
  const toolId = options.toolId?.toLowerCase();
  const { jwksUrl = new URL("/.well-known/jwks.json", issuer).href } = options;
  const key: KeyObject | JWTVerifyGetKey =
    publicKey === undefined
      ? createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: JWKS_TIMEOUT_MS, cacheMaxAge: JWKS_MAX_AGE_MS })
      : createPublicKey(publicKey);
  const expected = {
    audience,
    issuer,
    algorithms: ["RS256"],
    requiredClaims: ["exp", "iat", "toolId"],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  return async (authorization) => {
    if (!authorization?.startsWith("Bearer ")) throw new UnauthorizedError("Missing or invalid Authorization header");
    const token = authorization.slice("Bearer ".length);
    try {
      const { payload } =
        typeof key === "function" ? await jwtVerify(token, key, expected) : await jwtVerify(token, key, expected);
      const claims = payload as ContextClaims;
      const isTest = claims.toolId === SMOKE_TEST && claims.purpose === SMOKE_TEST;
      if (toolId !== undefined && claims.toolId !== toolId && !isTest) throw new Error("this was sold as another tool");
      return claims;
    } catch (cause) {
      throw new UnauthorizedError("Invalid Context Protocol signature", { cause });
    }
  };
}

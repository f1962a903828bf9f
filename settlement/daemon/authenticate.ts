import { hash, timingSafeEqual } from "node:crypto";
import type { Ledger } from "../ledger/ledger.ts";
import { API_KEY_PATTERN, hashOfSecret } from "./apiKeySecret.ts";
import { ApiError } from "./errors.ts";
import type { Access, Caller } from "./route.ts";

const BEARER = "Bearer ";
const WHOLE_API_KEY = new RegExp(`^${API_KEY_PATTERN.source}$`);

export type Authenticate = (authorization: string | undefined, access: Access) => Promise<Caller>;

// Who shows which secret. A comparison takes the same time wherever the first difference is: the service token is compared
// by its hash, and an API key is looked up by its hash, from which nobody can work back to a better guess.
export function createAuthenticate(ledger: Ledger, serviceToken: string): Authenticate {
  const expected = digestOf(serviceToken);
  return async (authorization, access) => {
    const secret = authorization?.startsWith(BEARER) ? authorization.slice(BEARER.length) : undefined;
    if (secret === undefined) {
      throw new ApiError("unauthorized", "Send a header Authorization: Bearer with your key.");
    }
    if (access === "platform") {
      if (timingSafeEqual(digestOf(secret), expected)) return { kind: "platform" };
      throw new ApiError("unauthorized", "This is not the service token.");
    }
    const apiKey = WHOLE_API_KEY.test(secret) ? await ledger.apiKeyByHash(hashOfSecret(secret)) : null;
    if (apiKey === null) throw new ApiError("unauthorized", "This API key is not known.");
    if (apiKey.revokedAtMs !== null) throw new ApiError("unauthorized", "This API key was revoked.");
    return { kind: "payer", apiKey };
  };
}

const digestOf = (text: string) => hash("sha256", text, "buffer");

export const nameOf = (caller: Caller) => (caller.kind === "platform" ? "platform" : caller.apiKey.id);

import { hash, timingSafeEqual } from "node:crypto";
import type { Login } from "../console/login.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { API_KEY_PATTERN, hashOfSecret } from "./apiKeySecret.ts";
import { ApiError } from "./errors.ts";
import type { Caller, Route } from "./route.ts";

const BEARER = "Bearer ";
const WHOLE_API_KEY = new RegExp(`^${API_KEY_PATTERN.source}$`);

export type Credentials = { authorization?: string | undefined; cookie?: string | undefined };

export type Authenticate = (credentials: Credentials, route: Pick<Route, "access" | "method">) => Promise<Caller>;

export type AuthenticateOptions = {
  ledger: Ledger;
  serviceToken: string;
  // Null without a console: then nothing is public, and cookies open nothing.
  login: Login | null;
};

// Who shows which secret. A comparison takes the same time wherever the first difference is: the service token is compared
// by its hash, and an API key is looked up by its hash, from which nobody can work back to a better guess.
export function createAuthenticate({ ledger, serviceToken, login }: AuthenticateOptions): Authenticate {
  const expected = digestOf(serviceToken);
  return async ({ authorization, cookie }, { access, method }) => {
    const secret = authorization?.startsWith(BEARER) ? authorization.slice(BEARER.length) : undefined;
    if (secret === undefined) {
      // A cookie reads and never writes, so that nobody can make a browser that is logged in change anything.
      if (access !== "payer" && method === "GET" && login?.accepts(cookie)) return { kind: "console" };
      if (access === "public" && login !== null) return { kind: "anybody" };
      throw new ApiError("unauthorized", "Send a header Authorization: Bearer with your key.");
    }
    if (access !== "payer") {
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

// Under which name a caller's Idempotency-Keys are kept.
export const nameOf = (caller: Caller) => (caller.kind === "payer" ? caller.apiKey.id : caller.kind);

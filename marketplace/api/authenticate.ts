import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { API_KEY_PATTERN, hashOfSecret } from "../../settlement/domain/text/apiKeySecret.ts";
import { findApiKeyByHash } from "../accounts/apiKeys.ts";
import { findLogin, LOGIN_PATTERN } from "../accounts/logins.ts";
import type { Store } from "../database/openStore.ts";
import type { Access, Caller } from "./route.ts";

export type Authenticate = (authorization: string | undefined, access: Access) => Promise<Caller>;

// The name of the scheme is written in any case, and what stands around a key is no part of it (RFC 9110).
const BEARER = /^bearer +/i;
const WHOLE_API_KEY = new RegExp(`^${API_KEY_PATTERN.source}$`);

// Who shows which secret. Both kinds are looked up by their hash, from which nobody can work back to a better guess.
export function createAuthenticate({ store, clock }: { store: Store; clock: Clock }): Authenticate {
  return async (authorization, access) => {
    const secret =
      authorization !== undefined && BEARER.test(authorization) ? authorization.replace(BEARER, "").trim() : null;
    if (secret === null) {
      if (access === "anybody") return { kind: "anybody" };
      throw new ApiError("unauthorized", "send a header Authorization: Bearer with your API key");
    }
    if (LOGIN_PATTERN.test(secret)) {
      const account = await findLogin(store.read, secret, clock.nowMs());
      if (account === null) throw new ApiError("unauthorized", "this login has ended; sign in again");
      return { kind: "account", account, by: "login" };
    }
    const apiKey = WHOLE_API_KEY.test(secret) ? await findApiKeyByHash(store.read, hashOfSecret(secret)) : null;
    if (apiKey === null) throw new ApiError("unauthorized", "this API key is not known");
    if (apiKey.revokedAtMs !== null) throw new ApiError("unauthorized", "this API key was revoked");
    if (access === "login") throw new ApiError("forbidden", "this needs a login by the wallet itself, not an API key");
    return { kind: "account", account: apiKey.account, by: "key" };
  };
}

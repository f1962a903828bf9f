import { hash, timingSafeEqual } from "node:crypto";
import type { Login } from "../../../console/login.ts";
import { ApiError } from "../errors.ts";
import type { Caller, Route } from "../route.ts";

// The name of the scheme is written in any case (RFC 9110).
const BEARER = /^bearer +/i;
// What the console sends along with its few writes. A browser lets another site send a form with cookies, but no header of
// its own without asking this side first, which never agrees; and the cookie is SameSite=Strict on top of it.
export const CONSOLE_HEADER = "x-settlement-console";

export type Credentials = {
  authorization?: string | undefined;
  cookie?: string | undefined;
  [CONSOLE_HEADER]?: string | string[] | undefined;
};

export type Authenticate = (credentials: Credentials, route: Pick<Route, "access" | "method" | "console">) => Caller;

export type AuthenticateOptions = {
  serviceToken: string;
  // Null without a console: then nothing is public, and cookies open nothing.
  login: Login | null;
};

// Who shows which secret. The service token is compared by its hash, which takes the same time wherever the first difference
// is.
export function createAuthenticate({ serviceToken, login }: AuthenticateOptions): Authenticate {
  const expected = digestOf(serviceToken);
  return ({ authorization = "", cookie, [CONSOLE_HEADER]: sentByConsole }, { access, method, console }) => {
    const secret = BEARER.test(authorization) ? authorization.replace(BEARER, "") : undefined;
    if (secret === undefined) {
      // A cookie reads, and writes nothing but what a route opens to the console, so that nobody can make a browser that
      // is logged in change anything.
      const mayAsk = method === "GET" || (console === true && sentByConsole !== undefined);
      if (mayAsk && login?.accepts(cookie)) return { kind: "console" };
      if (access === "public" && login !== null) return { kind: "anybody" };
      throw new ApiError("unauthorized", "send a header Authorization: Bearer with the service token");
    }
    if (timingSafeEqual(digestOf(secret), expected)) return { kind: "platform" };
    throw new ApiError("unauthorized", "this is not the service token");
  };
}

const digestOf = (text: string) => hash("sha256", text, "buffer");

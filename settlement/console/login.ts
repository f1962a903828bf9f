import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../clock.ts";

export type Login = {
  // Whether anybody can log in at all.
  possible: boolean;
  // A cookie for who knows the token; null for everybody else.
  cookieFor(token: string, secure: boolean): string | null;
  // Whether a request's cookies hold one that was given out here, or by another daemon with the same token.
  accepts(cookies: string | undefined): boolean;
  // What makes a browser forget its cookie.
  expiredCookie(secure: boolean): string;
};

const NAME = "settlement_console";
const LIFETIME_MS = 12 * 60 * 60 * 1_000;
const VALUE_PATTERN = /^(\d{1,16})\.([0-9a-f]{64})$/;

// A login is a cookie that says when it ends, signed with the console's token: nothing must be remembered, every daemon
// with the same token accepts it, and another token ends all of them. Scripts cannot read it, other sites cannot send it,
// and it opens nothing but reading.
export function createLogin({ token, clock }: { token: string | null; clock: Clock }): Login {
  const attributes = (secure: boolean) => `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  if (token === null) {
    return {
      possible: false,
      cookieFor: () => null,
      accepts: () => false,
      expiredCookie: (secure) => `${NAME}=; Max-Age=0; ${attributes(secure)}`,
    };
  }
  const expected = digestOf(token);
  const signatureOf = (untilMs: string) => createHmac("sha256", token).update(`${NAME} until ${untilMs}`).digest("hex");
  return {
    possible: true,
    cookieFor(given, secure) {
      if (!timingSafeEqual(digestOf(given), expected)) return null;
      const untilMs = `${clock.nowMs() + LIFETIME_MS}`;
      const value = `${untilMs}.${signatureOf(untilMs)}`;
      return `${NAME}=${value}; Max-Age=${LIFETIME_MS / 1_000}; ${attributes(secure)}`;
    },
    accepts(cookies) {
      const [, untilMs, signature] = VALUE_PATTERN.exec(valueIn(cookies)) ?? [];
      if (untilMs === undefined || signature === undefined) return false;
      const isOurs = timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(untilMs)));
      return isOurs && Number(untilMs) > clock.nowMs();
    },
    expiredCookie: (secure) => `${NAME}=; Max-Age=0; ${attributes(secure)}`,
  };
}

function valueIn(cookies = ""): string {
  const own = cookies.split("; ").find((cookie) => cookie.startsWith(`${NAME}=`));
  return own?.slice(NAME.length + 1) ?? "";
}

const digestOf = (text: string) => hash("sha256", text, "buffer");

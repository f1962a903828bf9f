import { expect, it } from "vitest";
import { createLogin } from "./login.ts";

const TOKEN = "t".repeat(32);
const HOUR_MS = 3_600_000;

function loginAt(nowMs: number, token: string | null = TOKEN) {
  return createLogin({ token, clock: { nowMs: () => nowMs } });
}

const cookieOf = (header: string | null) => header?.split("; ")[0] ?? "";

it("gives who knows the token a cookie that scripts cannot read and other sites cannot send", () => {
  const header = loginAt(0).cookieFor(TOKEN, false);
  expect(header).toMatch(/^settlement_console=\d+\.[0-9a-f]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(loginAt(0).cookieFor(TOKEN, true)).toMatch(/; Secure$/);
  expect(header).not.toContain(TOKEN);
  expect(loginAt(0).cookieFor(`${TOKEN}t`, false)).toBeNull();
  expect(loginAt(0).cookieFor("", false)).toBeNull();
});

it("accepts a cookie in another process with the same token, until its time is over", () => {
  const cookie = cookieOf(loginAt(0).cookieFor(TOKEN, false));
  expect(loginAt(1).accepts(cookie)).toBe(true);
  expect(loginAt(1).accepts(`other=1; ${cookie}; more=2`)).toBe(true);
  expect(loginAt(12 * HOUR_MS - 1).accepts(cookie)).toBe(true);
  expect(loginAt(12 * HOUR_MS).accepts(cookie)).toBe(false);
});

it("accepts no cookie that was changed, made with another token, or left out", () => {
  const cookie = cookieOf(loginAt(0).cookieFor(TOKEN, false));
  const later = cookie.replace(/=\d+/, (time) => `=${Number(time.slice(1)) + 1}`);
  const otherSignature = cookie.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
  for (const bad of [later, otherSignature, cookie.slice(0, -1), "settlement_console=", "", undefined]) {
    expect(loginAt(1).accepts(bad)).toBe(false);
  }
  expect(loginAt(1, "u".repeat(32)).accepts(cookie)).toBe(false);
});

it("lets nobody in without a token", () => {
  const closed = loginAt(0, null);
  expect(closed.possible).toBe(false);
  expect(closed.cookieFor("", false)).toBeNull();
  expect(closed.accepts(cookieOf(loginAt(0).cookieFor(TOKEN, false)))).toBe(false);
});

import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openMarketplace } from "./openMarketplace.ts";

let database: Store;
let market: Awaited<ReturnType<typeof openMarketplace>>;

beforeAll(async () => {
  const create = backends[0]?.create ?? (() => Promise.reject(new Error("there is no database")));
  database = await create();
  market = await openMarketplace(database, { verifyContract: async () => true });
});
afterAll(async () => {
  await market?.close();
  await database?.remove();
});

const SEARCH = "/api/v1/tools/search";

// Time stands still while these are asked.
async function statuses(count: number, remoteAddress: (i: number) => string, headers: Record<string, string> = {}) {
  const seen = new Map<number, number>();
  for (let i = 0; i < count; i += 1) {
    const { statusCode } = await market.app.inject({ url: SEARCH, remoteAddress: remoteAddress(i), headers });
    seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1);
  }
  return Object.fromEntries(seen);
}

it("whoever has a whole network of IPv6 addresses is one stranger, and is told to slow down", async () => {
  expect(await statuses(60, (i) => `2001:db8:1:1::${i.toString(16)}`)).toEqual({ 200: 40, 429: 20 });
  expect(await statuses(1, () => "2001:db8:1:2::1")).toEqual({ 200: 1 });
  expect(await statuses(60, () => "192.0.2.7")).toEqual({ 200: 40, 429: 20 });
});

it("whoever guesses keys is told to slow down before anything is looked up again and again", async () => {
  const guess = { authorization: `Bearer sk_live_${"a".repeat(32)}` };
  expect(await statuses(40, (i) => `2001:db8:2:1::${i.toString(16)}`, guess)).toEqual({ 401: 20, 429: 20 });
});

it("nobody signs in as the zero address, which a signature that recovers nobody would be of", async () => {
  const { body } = await market.ask("POST", "/api/v1/auth/challenge", { wallet: zeroAddress });
  const signature = `0x${"00".repeat(64)}1b`;
  const reply = await market.ask("POST", "/api/v1/auth/login", { message: body.message, signature });
  expect(reply).toMatchObject({ status: 401, body: { code: "unauthorized" } });
});

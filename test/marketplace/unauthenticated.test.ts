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
const zeroUuid = "00000000-0000-4000-8000-000000000000";

// Time stands still while these are asked.
async function statuses(
  count: number,
  remoteAddress: (i: number) => string,
  headers: Record<string, string> = {},
  url = SEARCH,
) {
  const seen = new Map<number, number>();
  for (let i = 0; i < count; i += 1) {
    const { statusCode } = await market.app.inject({ url, remoteAddress: remoteAddress(i), headers });
    seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1);
  }
  return Object.fromEntries(seen);
}

it("whoever has a whole network of IPv6 addresses is one unauthenticated caller, and is told to slow down", async () => {
  expect(await statuses(60, (i) => `2001:db8:1:1::${i.toString(16)}`)).toEqual({ 200: 40, 429: 20 });
  expect(await statuses(1, () => "2001:db8:1:2::1")).toEqual({ 200: 1 });
  expect(await statuses(60, () => "192.0.2.7")).toEqual({ 200: 40, 429: 20 });
});

it("whoever has a site of IPv6 with thousands of networks is told to slow down as well, and leaves others theirs", async () => {
  expect(await statuses(400, (i) => `2001:db8:77:${i.toString(16)}::1`)).toEqual({ 200: 320, 429: 80 });
  expect(await statuses(1, () => "2001:db8:78:1::1")).toEqual({ 200: 1 });
  // One that asks too often takes nothing from its neighbours.
  expect(await statuses(400, () => "2001:db8:79:1::1")).toEqual({ 200: 40, 429: 360 });
  expect(await statuses(40, (i) => `2001:db8:79:${(i + 2).toString(16)}::1`)).toEqual({ 200: 40 });
});

it.each(["/", "/ask", `/tools/${zeroUuid}`, "/openapi.json", "/docs/", "/docs/static/swagger-ui.css", "/%64ocs/"])(
  "whoever reads %s over and over is told to slow down",
  async (url) => {
    const seen = await statuses(60, () => `2001:db8:3:${url.length}::1`, {}, url);
    expect(seen[429]).toBe(20);
  },
);

it.each(["/docs/static/%2e%2e/x", "/docs/static/%00", "/docs/static/a%5c..%5cb", "/docs/static//etc/passwd"])(
  "whoever looks for files at %s finds none, and that is no error of ours",
  async (url) => {
    const before = market.lines.length;
    const reply = await market.app.inject({ url, remoteAddress: "192.0.2.30" });
    expect([reply.statusCode, reply.json()]).toMatchObject([404, { code: "not_found" }]);
    expect(market.lines.slice(before).filter((line) => line.includes('"level":50'))).toEqual([]);
  },
);

it("whoever names other addresses in its headers is one unauthenticated caller all the same", async () => {
  const forged = (i: number) => ({
    "x-forwarded-for": `203.0.113.${i}`,
    "x-real-ip": `203.0.113.${i}`,
    "cf-connecting-ip": `203.0.113.${i}`,
    forwarded: `for=203.0.113.${i}`,
  });
  const seen: number[] = [];
  for (let i = 0; i < 60; i += 1) {
    const { statusCode } = await market.app.inject({ url: SEARCH, remoteAddress: "192.0.2.9", headers: forged(i) });
    seen.push(statusCode);
  }
  expect(seen.filter((status) => status === 429)).toHaveLength(20);
});

it("behind proxies that are trusted callers are told apart by what those say, and by nothing that they say themselves", async () => {
  const create = backends[0]?.create ?? (() => Promise.reject(new Error("there is no database")));
  const behind = await create();
  const proxied = await openMarketplace(behind, { trustedProxies: ["10.0.0.0/24", "fd00::1"] });
  try {
    const ask = async (remoteAddress: string, forwarded: (i: number) => string) => {
      let refused = 0;
      for (let i = 0; i < 60; i += 1) {
        const headers = { "x-forwarded-for": forwarded(i) };
        const { statusCode } = await proxied.app.inject({ url: SEARCH, remoteAddress, headers });
        if (statusCode === 429) refused += 1;
      }
      return refused;
    };
    expect(await ask("10.0.0.7", (i) => `203.0.113.${i}`)).toBe(0);
    expect(await ask("::ffff:10.0.0.7", (i) => `198.51.100.${i}, 10.0.0.9`)).toBe(0);
    expect(await ask("fd00::1", () => "192.0.2.1")).toBe(20);
    // What stands before the address that the proxy has seen is whatever the caller has made up.
    expect(await ask("10.0.0.7", (i) => `203.0.113.${i}, 192.0.2.2`)).toBe(20);
    expect(await ask("10.0.0.7", (i) => `10.0.0.${i}, 192.0.2.3`)).toBe(20);
    // Nobody else is a proxy.
    expect(await ask("10.0.1.7", (i) => `203.0.113.${i}`)).toBe(20);
    // One network of IPv6 is one caller here too.
    expect(await ask("10.0.0.7", (i) => `2001:db8:5:5::${i.toString(16)}`)).toBe(20);
  } finally {
    await proxied.close();
    await behind.remove();
  }
});

it("whoever guesses keys is told to slow down before anything is looked up again and again", async () => {
  const guess = { authorization: `Bearer sk_live_${"a".repeat(32)}` };
  expect(await statuses(40, (i) => `2001:db8:2:1::${i.toString(16)}`, guess)).toEqual({ 401: 20, 429: 20 });
});

it("whoever puts a hundred messages for agents into one request has asked a hundred times", async () => {
  const list = (messages: number, remoteAddress: string) =>
    market.app.inject({
      method: "POST",
      url: "/api/mcp",
      remoteAddress,
      headers: { accept: "application/json, text/event-stream" },
      payload: Array.from({ length: messages }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list", params: {} })),
    });
  const few = await list(10, "192.0.2.11");
  expect([few.statusCode, few.json()]).toMatchObject([200, { length: 10 }]);
  const many = await list(60, "192.0.2.12");
  expect([many.statusCode, many.json().code]).toEqual([429, "rate_limited"]);
  expect((await list(1, "192.0.2.12")).statusCode).toBe(429);
});

it("nobody signs in as the zero address, which a signature that recovers nobody would be of", async () => {
  const { body } = await market.ask("POST", "/api/v1/auth/challenge", { wallet: zeroAddress });
  const signature = `0x${"00".repeat(64)}1b`;
  const reply = await market.ask("POST", "/api/v1/auth/login", { message: body.message, signature });
  expect(reply).toMatchObject({ status: 401, body: { code: "unauthorized" } });
});

// Beside the pages of people: search, listings, how to become an account or list a tool by a signature, and what was handed out under
// an address that nobody can guess.
const OPEN = [
  "GET /.well-known/jwks.json",
  "GET /api/v1/query/data/{id}",
  "GET /api/v1/query/images/{name}",
  "GET /api/v1/tools/search",
  "GET /api/v1/tools/{id}",
  "GET /health",
  "GET /ready",
  "POST /api/v1/auth/challenge",
  "POST /api/v1/auth/login",
  "POST /api/v1/tools",
  "POST /api/v1/tools/challenge",
];

it("a caller without a key gets what is open, and nothing else: every other route says 401 before it reads a body", async () => {
  const document = (await market.app.inject({ url: "/openapi.json" })).json() as {
    paths: Record<string, Record<string, { security?: object[] }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ name: `${method.toUpperCase()} ${path}`, method, path })),
  );
  expect(routes.length).toBeGreaterThan(20);
  const answers: Record<string, number> = {};
  for (const [i, { name, method, path }] of routes.entries()) {
    const { statusCode, payload } = await market.app.inject({
      method: method.toUpperCase() as "POST",
      url: path.replaceAll(/\{\w+\}/g, zeroUuid),
      remoteAddress: `198.51.100.${i}`,
      ...(method !== "get" && { payload: "{", headers: { "content-type": "application/json" } }),
    });
    answers[name] = statusCode;
    if (statusCode === 401 && path.startsWith("/api/v1/"))
      expect(JSON.parse(payload), name).toMatchObject({ code: "unauthorized", error: expect.any(String) });
  }
  const open = Object.keys(answers).filter((name) => answers[name] !== 401);
  expect(open.sort()).toEqual(OPEN);
});

import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openDaemon, SERVICE_TOKEN } from "./openDaemon.ts";
import { logIn, openMarketplace } from "./openMarketplace.ts";

const SESSIONS = "/api/v1/tools/execute/sessions";

// What buyers and their SDKs ask, in exactly the protocol's form.
describe.each(backends)("sessions of a buyer, on $name", ({ create }) => {
  let ledger: Store;
  let database: Store;
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  const secrets: string[] = [SERVICE_TOKEN];

  beforeAll(async () => {
    [ledger, database] = await Promise.all([create(), create()]);
    daemon = await openDaemon(ledger);
    market = await openMarketplace(database, { daemonUrl: daemon.url });
  });
  afterAll(async () => {
    await market?.close();
    await daemon?.close();
    await database?.remove();
    await ledger?.remove();
  });

  async function buyerOf(ask = market.ask) {
    const wallet = privateKeyToAccount(generatePrivateKey());
    const login = await logIn(ask, wallet);
    const { body } = await ask("POST", "/api/v1/keys", { name: "agent" }, login);
    const { id, key } = body as { id: string; key: string };
    secrets.push(login, key);
    return { wallet, login, id, key };
  }
  const start = (key: string, maxSpendUsd = "1.00", headers = {}) =>
    market.ask("POST", SESSIONS, { mode: "execute", maxSpendUsd }, key, headers);
  const idOf = ({ body }: Awaited<ReturnType<typeof start>>) => (body.session as { sessionId: string }).sessionId;

  it("are started, shown and closed in exactly the protocol's form", async () => {
    const { key } = await buyerOf();
    const started = await start(key);
    const session = {
      mode: "execute",
      sessionId: expect.any(String),
      methodPrice: "0.00",
      spent: "0.00",
      remaining: "1.00",
      maxSpend: "1.00",
      status: "open",
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      closeRequested: false,
      pendingAccruedCount: 0,
      pendingAccruedUsd: "0.00",
    };
    expect(started.body).toStrictEqual({ success: true, mode: "execute", session });
    const place = `${SESSIONS}/${idOf(started)}`;
    expect((await market.ask("GET", place, undefined, key)).body).toStrictEqual(started.body);
    const closed = { ...session, status: "closed", closeRequested: true };
    for (let times = 0; times < 2; times += 1) {
      const { body } = await market.ask("POST", `${place}/close`, { mode: "execute" }, key);
      expect(body).toStrictEqual({ success: true, mode: "execute", session: closed });
    }
  });

  it("are one under one Idempotency-Key of one buyer, and a conflict with another budget", async () => {
    const [alice, bob] = [await buyerOf(), await buyerOf()];
    const headers = { "idempotency-key": "start-1" };
    const [first, twin] = await Promise.all([start(alice.key, "0.50", headers), start(alice.key, "0.50", headers)]);
    expect(idOf(twin)).toBe(idOf(first));
    const again = await start(alice.key, "0.50", headers);
    expect([idOf(again), again.headers["idempotency-replayed"]]).toEqual([idOf(first), "true"]);
    expect(await start(alice.key, "0.60", headers)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(idOf(await start(bob.key, "0.50", headers))).not.toBe(idOf(first));
  });

  it("are refused to whoever cannot pay, who is told where to set a cap, and judged again under the same key", async () => {
    const { key, wallet } = await buyerOf();
    daemon.allow(wallet.address, 0n);
    const headers = { "idempotency-key": "poor" };
    expect(await start(key, "1", headers)).toMatchObject({
      status: 402,
      body: { code: "insufficient_allowance", helpUrl: "https://help.example/cap" },
    });
    daemon.allow(wallet.address, 5_000_000n);
    expect((await start(key, "1", headers)).status).toBe(200);
    expect(await start(key, "100000")).toMatchObject({ status: 402 });
  });

  it("are nobody else's: not even that they exist is shown", async () => {
    const [alice, bob] = [await buyerOf(), await buyerOf()];
    const place = `${SESSIONS}/${idOf(await start(alice.key))}`;
    const nothing = { status: 404, body: { error: "There is no such session.", code: "session_not_found" } };
    expect(await market.ask("GET", place, undefined, bob.key)).toMatchObject(nothing);
    expect(await market.ask("POST", `${place}/close`, { mode: "execute" }, bob.key)).toMatchObject(nothing);
    expect(await market.ask("GET", `${SESSIONS}/unknown`, undefined, bob.key)).toMatchObject(nothing);
    const own = await market.ask("GET", place, undefined, alice.key);
    expect(own.body).toMatchObject({ session: { status: "open" } });
  });

  it.each([
    ["no budget", { mode: "execute" }, "invalid_max_spend", "maxSpendUsd is missing"],
    ["a number", { mode: "execute", maxSpendUsd: 1 }, "invalid_max_spend", "maxSpendUsd must be dollars as a text"],
    ["seven decimals", { mode: "execute", maxSpendUsd: "0.1234567" }, "invalid_max_spend", "has 7 decimals"],
    ["nothing to spend", { mode: "execute", maxSpendUsd: "0" }, "invalid_max_spend", "must be more than zero"],
    ["a negative budget", { mode: "execute", maxSpendUsd: "-1" }, "invalid_max_spend", "is not an amount"],
    ["too much", { mode: "execute", maxSpendUsd: "999999999999" }, "invalid_max_spend", "more than the largest"],
    ["another mode", { mode: "query", maxSpendUsd: "1" }, "invalid_request", 'mode must be "execute"'],
    ["a list", [], "invalid_request", "the body must be a JSON object"],
  ])("are refused with %s", async (_, body, code, sentence) => {
    const { key } = await buyerOf();
    const reply = await market.ask("POST", SESSIONS, body, key);
    expect(reply).toMatchObject({ status: 400, body: { code, error: expect.stringContaining(sentence) } });
    expect(Object.keys(reply.body).sort()).toEqual(["code", "error"]);
  });

  it("are shown under no key that is missing, wrong by one letter or revoked, nor under the service token", async () => {
    const { key, id, login } = await buyerOf();
    const place = `${SESSIONS}/${idOf(await start(key))}`;
    const almost = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
    expect((await market.ask("GET", place, undefined, almost)).status).toBe(401);
    await market.ask("DELETE", `/api/v1/keys?id=${id}`, undefined, login);
    for (const bad of [null, "sk_live_short", `sk_live_${"A".repeat(43)}`, key, SERVICE_TOKEN]) {
      const reply = await market.ask("GET", place, undefined, bad);
      expect(reply).toMatchObject({ status: 401, body: { code: "unauthorized", error: expect.any(String) } });
    }
  });

  it("are asked for so often by one account and no more", async () => {
    const strict = await create();
    const limited = await openMarketplace(strict, { daemonUrl: daemon.url, rateLimitPerSecond: 1 });
    try {
      const { key } = await buyerOf(limited.ask);
      // No time passes between these.
      const replies = await Promise.all(
        Array.from({ length: 20 }, () =>
          limited.app.inject({ url: `${SESSIONS}/unknown`, headers: { authorization: `Bearer ${key}` } }),
        ),
      );
      const refused = replies.filter(({ statusCode }) => statusCode === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]?.json()).toMatchObject({ code: "rate_limited" });
      expect(refused[0]?.headers["retry-after"]).toBe("1");
      expect(replies.some(({ statusCode }) => statusCode === 404)).toBe(true);
    } finally {
      await limited.close();
      await strict.remove();
    }
  });

  it("and their calls: those above a burst wait their turn in place of being refused, and delay nothing else", async () => {
    const other = await create();
    const paced = await openMarketplace(other, { daemonUrl: daemon.url, rateLimitPerSecond: 10 });
    try {
      const { key } = await buyerOf(paced.ask);
      const call = async () => {
        const payload = { toolId: randomUUID(), toolName: "add" };
        const headers = { authorization: `Bearer ${key}` };
        return (await paced.app.inject({ method: "POST", url: "/api/v1/tools/execute", headers, payload })).statusCode;
      };
      // No time passes for the marketplace between these, so that every one above the burst of twenty waits.
      const calls = await Promise.all(Array.from({ length: 25 }, call));
      expect(new Set(calls)).toEqual(new Set([404]));
      // Neither of these has spent anything yet.
      for (const url of [`${SESSIONS}/unknown`, `/api/v1/query/jobs/${randomUUID()}`]) {
        const { statusCode } = await paced.app.inject({ url, headers: { authorization: `Bearer ${key}` } });
        expect([url, statusCode]).toEqual([url, 404]);
      }
    } finally {
      await paced.close();
      await other.remove();
    }
  });

  it("leave nothing secret in any line of the log", () => {
    const log = market.lines.join("");
    expect(log.length).toBeGreaterThan(1_000);
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "./openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "./openMarketplace.ts";
import { GAS, startTool, structured, type ToolServer } from "./startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const EXECUTE = "/api/v1/tools/execute";
const FREE = { ...GAS, name: "free", _meta: { pricing: { executeUsd: "0" } } };
const DAY_MS = 24 * 60 * 60 * 1_000;

describe.each(backends)("what buyers leave behind, on $name", ({ create }) => {
  let database: Store;
  let daemonStore: Store;
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  let toolId: string;

  beforeAll(async () => {
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    server = await startTool({ methods: [GAS, FREE] });
  });
  afterAll(async () => {
    await server.close();
    await daemon.close();
    await daemonStore.remove();
  });
  beforeEach(async () => {
    database = await create();
  });
  afterEach(async () => {
    await market.close();
    await database.remove();
  });

  async function open(bounds: Parameters<typeof openMarketplace>[1]) {
    market = await openMarketplace(database, { daemonUrl: daemon.url, ...bounds });
    const owner = newWallet();
    toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address));
    server.tool.call = () => structured({ value: 1 });
    const described = { toolId, endpoint: server.url, name: "Gas", description: "Gas prices" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
    server.state.calls = 0;
  }

  async function buyer() {
    const secret = await makeKey(market.ask, newWallet());
    return (key: string, toolName = "free") =>
      market.ask("POST", EXECUTE, { toolId, toolName }, secret, { "idempotency-key": key });
  }
  const answering = (bytes: number) => {
    server.tool.call = () => structured({ value: 1, padding: "x".repeat(bytes) });
  };
  const keptBytes = async () => {
    const [row] = await market.store.read.all("SELECT SUM(LENGTH(body)) AS kept FROM executions");
    return Number(row?.kept ?? 0);
  };

  it("has a bound for all accounts together, above which what cost nothing goes first, and the oldest of it", async () => {
    await open({ maxTotalKeptBytes: 100_000 });
    answering(10_000);
    const paying = await buyer();
    expect((await paying("paid", "get_gas_prices")).status).toBe(200);
    // Each of them is far below what one account may have.
    const freeloaders = await Promise.all(Array.from({ length: 12 }, buyer));
    for (const [i, call] of freeloaders.entries()) {
      expect((await call(`free ${i}`)).status).toBe(200);
      await market.execute.evicted();
    }
    expect(await keptBytes()).toBeLessThan(130_000);
    const calls = server.state.calls;
    expect((await paying("paid", "get_gas_prices")).headers["idempotency-replayed"]).toBe("true");
    expect((await freeloaders[11]?.("free 11"))?.headers["idempotency-replayed"]).toBe("true");
    // Its answer is gone, and its tool is not called again.
    expect(await freeloaders[0]?.("free 0")).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
    expect(server.state.calls).toBe(calls);
    expect(market.lines.some((line) => line.includes('"event":"room_short"'))).toBe(true);
    expect(await market.metrics.print()).toMatch(/marketplace_answers_evicted_total\{room="total"\} [1-9]/);
  });

  it("is less for an account that never paid than for one that has", async () => {
    await open({ maxKeptBytes: 1_000_000, maxFreeKeptBytes: 30_000 });
    answering(10_000);
    const [poor, payer] = [await buyer(), await buyer()];
    expect((await payer("paid", "get_gas_prices")).status).toBe(200);
    await market.execute.writeCounts();
    for (let i = 0; i < 10; i += 1) {
      for (const call of [poor, payer]) expect((await call(`${i}`)).status).toBe(200);
      await market.execute.evicted();
    }
    expect(await poor("0")).toMatchObject({ status: 409 });
    expect((await poor("9")).headers["idempotency-replayed"]).toBe("true");
    expect((await payer("0")).headers["idempotency-replayed"]).toBe("true");
  });

  it("is so many keys of calls that cost nothing in a day, however they are asked for, and those of paid calls are not counted", async () => {
    await open({ maxFreeKeysPerDay: 4 });
    const [call, other] = [await buyer(), await buyer()];
    for (let i = 0; i < 6; i += 1) expect((await call(`paid ${i}`, "get_gas_prices")).status).toBe(200);
    server.tool.call = () => ({ isError: true, content: [{ type: "text", text: "no" }] });
    expect((await call("failed", "get_gas_prices")).status).toBe(422);
    server.tool.call = () => structured({ value: 1 });
    for (const key of ["a", "b", "c"]) expect((await call(key)).status).toBe(200);
    const { calls } = server.state;
    const refused = await call("d");
    expect(refused).toMatchObject({
      status: 429,
      body: {
        code: "rate_limited",
        error: expect.stringMatching(/used 4 Idempotency-Keys today .* leave the key out/),
      },
    });
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(DAY_MS / 1_000);
    // What was asked for before is answered, and others have their own.
    expect((await call("a")).headers["idempotency-replayed"]).toBe("true");
    expect(server.state.calls).toBe(calls);
    expect((await other("d")).status).toBe(200);
    // Another process finds them in the database.
    const restarted = await openMarketplace(database, { daemonUrl: daemon.url, holder: "other", maxFreeKeysPerDay: 4 });
    try {
      await restarted.catalogue.follow();
      const [{ account } = {}] = await market.store.read.all(
        "SELECT account FROM executions WHERE idempotency_key = 'failed'",
      );
      const asked = { toolId, method: "free", args: {}, sessionId: null, maxSpendUsd: null, closeSession: false };
      const caller = { account: account as `0x${string}`, gone: new AbortController().signal, hasRoom: () => true };
      const again = restarted.execute.executeOnce({ ...asked, signed: null }, { ...caller, key: "e" });
      await expect(again).rejects.toMatchObject({ code: "rate_limited" });
    } finally {
      await restarted.close();
    }
    market.pass(DAY_MS);
    expect((await call("d")).status).toBe(200);
  });

  it("is so many keys of all accounts together, above which those who never paid leave the key out", async () => {
    await open({ maxTotalFreeKeys: 3 });
    const [paying, ...poor] = [await buyer(), await buyer(), await buyer(), await buyer(), await buyer()];
    for (let i = 0; i < 5; i += 1) expect((await paying(`paid ${i}`, "get_gas_prices")).status).toBe(200);
    // What was given back is not counted: nobody was called.
    expect((await poor[0]?.("refused", "no_such_method"))?.status).toBe(400);
    await market.execute.writeCounts();
    for (const [i, call] of poor.slice(0, 3).entries()) expect((await call(`free ${i}`)).status).toBe(200);
    const { calls } = server.state;
    const full = { status: 429, body: { code: "rate_limited", error: expect.stringMatching(/leave the key out/) } };
    expect(await poor[3]?.("free 3")).toMatchObject(full);
    expect((await poor[0]?.("free 0"))?.headers["idempotency-replayed"]).toBe("true");
    expect(server.state.calls).toBe(calls);
    expect((await paying("free", "free")).status).toBe(200);
    // They are counted in the database, and another process hears of them.
    await market.execute.writeCounts();
    const counted = async () =>
      Number((await market.store.read.all("SELECT value FROM totals WHERE name = 'free_keys'"))[0]?.value);
    expect(await counted()).toBe(4);
    expect(await poor[3]?.("free 3")).toMatchObject(full);
    market.pass(40 * DAY_MS);
    await market.execute.forgetAnswers();
    expect(await counted()).toBe(0);
    await market.execute.writeCounts();
    expect((await poor[3]?.("free 3"))?.status).toBe(200);
  });

  it("is so many accounts that never paid, above which only those sign in for the first time who could", async () => {
    await open({ maxFreeAccounts: 2 });
    const [first, second, poor, rich] = [newWallet(), newWallet(), newWallet(), newWallet()];
    daemon.allow(poor.address, 999_999n);
    const enter = async (wallet: typeof poor) => {
      const { body } = await market.ask("POST", "/api/v1/auth/challenge", { wallet: wallet.address });
      const message = body.message as string;
      return market.ask("POST", "/api/v1/auth/login", { message, signature: await wallet.signMessage({ message }) });
    };
    const key = await makeKey(market.ask, first);
    expect((await enter(second)).status).toBe(200);
    const refused = await enter(poor);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: "rate_limited", error: expect.stringMatching(/set a cap/) },
    });
    expect(refused.headers["retry-after"]).toBe("3600");
    expect((await enter(rich)).status).toBe(200);
    // Whoever is there already comes in as ever.
    expect((await enter(second)).status).toBe(200);
    // Whoever pays makes room for another. One that could pay took more than there was.
    const paid = { toolId, toolName: "get_gas_prices" };
    for (const payer of [key, await makeKey(market.ask, rich)]) {
      expect((await market.ask("POST", "/api/v1/tools/execute", paid, payer)).status).toBe(200);
    }
    await market.execute.writeCounts();
    expect((await enter(poor)).status).toBe(200);
  });

  it("is so many open sessions of a payer, who is told so", async () => {
    await open({});
    const wallet = newWallet();
    const secret = await makeKey(market.ask, wallet);
    await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => {
        const session = {
          id: `${wallet.address} ${i}`,
          payer: wallet.address,
          maxSpend: 1n as never,
          expiresAtMs: 9e12,
        };
        return daemon.ledger.openSession(session, Date.now());
      }),
    );
    const start = () => market.ask("POST", `${EXECUTE}/sessions`, { maxSpendUsd: "0.01" }, secret);
    expect(await start()).toMatchObject({
      status: 429,
      body: { code: "too_many_sessions", error: expect.stringMatching(/^1000 sessions of this payer are open; close/) },
    });
    await daemon.ledger.closeSession(`${wallet.address} 0`, Date.now());
    expect((await start()).status).toBe(200);
  });
});

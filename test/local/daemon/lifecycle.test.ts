import { join } from "node:path";
import { pino } from "pino";
import type { Address } from "viem";
import { expect, it } from "vitest";
import { PATIENTLY } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { createKeystore } from "../../../settlement/chain/signer/createKeystore.ts";
import { systemClock } from "../../../settlement/clock.ts";
import { readConfig } from "../../../settlement/config.ts";
import { createMetrics } from "../../../settlement/daemon/observability/metrics.ts";
import { createDaemon } from "../../../settlement/daemon/process/createDaemon.ts";
import { createServices } from "../../../settlement/daemon/process/createServices.ts";
import { startDaemon } from "../../../settlement/daemon/process/startDaemon.ts";
import { createPostgresLedger } from "../../../settlement/ledger/testing/backends.ts";
import { openEngine } from "../../../settlement/openEngine.ts";
import { askOf, SERVICE_TOKEN, settleCommand, startSettle, startTestDaemon } from "./testDaemon.ts";
import { PASSWORD, useDaemon } from "./useDaemon.ts";

// How a daemon begins, holds, crashes, drains and ends.
const { ask, payerOf, turnOf, secrets, place } = useDaemon();

it("a daemon process drains on SIGTERM, and `drain` settles what it left", async () => {
  const own = {
    ...place().environment,
    SETTLEMENT_LEDGER: join(place().folder, "process.db"),
    SETTLEMENT_TICK_MS: "60000",
    // A ledger of its own, and so a key of its own.
    SETTLEMENT_KEYSTORES: join(place().folder, "second.json"),
  };
  const privateKey = place().world.operators[1]?.privateKey ?? "0x";
  await createKeystore({ path: own.SETTLEMENT_KEYSTORES, password: PASSWORD, privateKey });
  const process = startSettle(["daemon"], own);
  const [, url = ""] = await process.printed(/"url":"(http:[^"]+)"/);
  const port = new URL(url).port;
  expect(await settleCommand(["daemon"], { ...own, SETTLEMENT_LISTEN: `127.0.0.1:${port}` })).toMatchObject({
    code: 1,
    stderr: `Port ${port} is taken; SETTLEMENT_LISTEN names another one.\n`,
  });
  await expect.poll(async () => (await askOf(url)("GET", "/ready")).text, PATIENTLY).toContain("ticks end");
  expect(await askOf(url)("POST", "/v1/turns", turnOf("left"))).toMatchObject({ status: 200 });
  const { code, stdout: log } = await process.stop();
  expect(code).toBe(0);
  expect(log).toContain('"event":"draining"');
  // Its last tick has sent the batch; nobody has seen it final yet.
  expect(log).toContain('"event":"sent"');
  const dry = await settleCommand(["settle", "--dry-run", "--json"], own);
  expect(JSON.parse(dry.stdout)).toMatchObject({ accounts: [], holding: null });
  expect(await settleCommand(["drain", "--minutes", "1"], own)).toMatchObject({
    code: 0,
    stdout: "nothing is pending\n",
  });
  for (const secret of secrets) expect(log).not.toContain(secret);
});

it("a daemon without an operator key is not ready and says why", async () => {
  const other = await startTestDaemon(place().world, join(place().folder, "other.db"), { operators: 0 });
  expect(await other.ask("GET", "/ready")).toMatchObject({
    status: 503,
    body: { components: { operators: { ok: false, reason: "no operator key is configured" } } },
  });
  await other.stop();
  await expect(other.ask("GET", "/health")).rejects.toThrow();
});

it("a daemon that drains takes no more writes, and still answers questions", async () => {
  const { app, drain, close } = await openApp("draining.db");
  drain();
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
  const written = await app.inject({ method: "POST", url: "/v1/turns", headers, payload: turnOf("late") });
  expect(written.statusCode).toBe(503);
  expect(written.json()).toMatchObject({ code: "unavailable" });
  expect((await app.inject({ url: "/v1/status", headers })).json()).toMatchObject({ totals: { accruedUsd: "0.00" } });
  expect((await app.inject({ url: "/ready" })).json()).toEqual({ ready: false, draining: true });
  await close();
});

it("a crash between what a request did and its stored answer does not do it twice", async () => {
  const { app, ledger, close } = await openApp("crash.db");
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}`, "idempotency-key": "once" };
  const payload = { payer: payerOf(0), maxSpendUsd: "1" };
  const request = { method: "POST", url: "/v1/sessions", headers, payload } as const;
  const { saveAnswer } = ledger;
  ledger.saveAnswer = async () => {
    throw new Error("the process ends here");
  };
  expect((await app.inject(request)).statusCode).toBe(500);
  ledger.saveAnswer = saveAnswer;
  const again = await app.inject(request);
  expect(again.statusCode).toBe(200);
  expect(await ledger.listSessions(payerOf(0), 10, 0)).toHaveLength(1);
  expect((await app.inject(request)).body).toBe(again.body);
  await close();
});

it("holds while USDC is paused, says so, and goes on by itself", async () => {
  await mined(place().world.usdc.pause());
  try {
    await ask("POST", "/v1/turns", turnOf("paused"));
    const settlement = async () =>
      ((await ask("GET", "/ready")).body as unknown as { components: { settlement: unknown } }).components.settlement;
    await expect.poll(settlement, PATIENTLY).toEqual({ ok: false, reason: "holding: USDC is paused" });
    await expect
      .poll(() => place().daemon.lines.some((line) => line.includes('"alert":"holding"')), PATIENTLY)
      .toBe(true);
  } finally {
    await mined(place().world.usdc.unpause());
  }
  const states = async () =>
    ((await ask("GET", "/v1/turns/paused")).body as unknown as { charges: { state: string; attempts: number }[] })
      .charges;
  await expect
    .poll(states, PATIENTLY)
    .toEqual([expect.objectContaining({ state: "final", attempts: 0 }), expect.objectContaining({ state: "final" })]);
});

it("the first that a daemon is told is due by the database's clock, and not by its own", async () => {
  const store = await createPostgresLedger();
  const aheadMs = 600_000;
  const { environment } = place();
  const config = { ...readConfig({ ...environment, SETTLEMENT_LEDGER: store.location }), keys: [] };
  let told: number | undefined;
  const daemon = await startDaemon(config, {
    log: pino({ level: "silent" }),
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs },
    // At the last moment before it listens.
    async extend(app) {
      const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
      const payload = turnOf("first");
      told = (await app.inject({ method: "POST", url: "/v1/turns", headers, payload })).statusCode;
    },
  });
  try {
    expect(told).toBe(200);
    const database = store.database();
    const [charge] = await database.read.all("SELECT due_at FROM charges");
    await database.close();
    expect(Number(charge?.due_at)).toBeLessThan(Date.now() + aheadMs / 2);
  } finally {
    await daemon.stop();
    await store.remove();
  }
});

// The server without a loop and without a port.
async function openApp(name: string) {
  const { world, folder } = place();
  const router = (await world.router.getAddress()) as Address;
  const { chainId, url } = world;
  const ledgerFile = join(folder, name);
  const opened = await openEngine({ chainId, rpcUrls: [url], router, ledger: ledgerFile, keys: [], holder: name });
  const { engine, ledger } = opened;
  const readiness = async () => Promise.reject(new Error("nobody asks"));
  const { app, drain } = await createDaemon({
    services: createServices({
      engine,
      ledger,
      chain: opened.chain,
      clock: systemClock,
      readiness,
      rpcUrls: [url],
      router,
      fromBlock: 0n,
      helpUrl: null,
      sessionTtlMs: 60_000,
    }),
    serviceToken: SERVICE_TOKEN,
    log: pino({ level: "silent" }),
    metrics: createMetrics(systemClock),
  });
  const close = async () => {
    await app.close();
    await opened.close();
  };
  return { app, drain, ledger, close };
}

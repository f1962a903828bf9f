import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { systemClock } from "../../clock.ts";
import { microUsdc } from "../../domain/money.ts";
import { createEngine } from "../../engine/createEngine.ts";
import { DEFAULT_POLICY } from "../../engine/policy.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import { ALICE } from "../../ledger/testing/fixtures.ts";
import { createMetrics } from "../observability/metrics.ts";
import { createDaemon } from "./createDaemon.ts";

const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";
const CONSOLE_TOKEN = "console-token-of-the-tests-0123456789";
const API_KEY = `sk_live_${"k".repeat(43)}`;
const HELP_URL = "https://help.example/cap";
const AS_PLATFORM = { authorization: `Bearer ${SERVICE_TOKEN}` };
// Whoever buys at the marketplace is a stranger here.
const AS_BUYER = { authorization: `Bearer ${API_KEY}` };

describe.each(ledgers)("requests, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let app: FastifyInstance;
  let allowance: bigint;
  let audits: number;
  const lines: string[] = [];

  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
    allowance = 0n;
    audits = 0;
    const readSpendable = async (payer: Address) =>
      spendableOf(payer, allowance, { balance: microUsdc(10n ** 9n), dailyCapLeft: 10n ** 9n });
    const chain = {} as Chain;
    const context = {
      ledger,
      chain,
      signers: [],
      clock: systemClock,
      random: Math.random,
      fromBlock: 0n,
      holder: "tests",
    };
    const engine = createEngine(
      { ...context, policy: DEFAULT_POLICY, report: () => {}, reached: () => {} },
      readSpendable,
    );
    const auditor = {
      last: () => null,
      runningSinceMs: () => null,
      start: () => {
        audits += 1;
      },
    };
    ({ app } = await createDaemon({
      services: {
        engine,
        ledger,
        clock: systemClock,
        auditor,
        cachedReads: {} as never,
        readiness: {} as never,
        helpUrl: HELP_URL,
        sessionTtlMs: 60_000,
      },
      serviceToken: SERVICE_TOKEN,
      console: { token: CONSOLE_TOKEN },
      log: pino({ level: "error" }, { write: (line) => void lines.push(line) }),
      metrics: createMetrics(systemClock),
    }));
  });
  afterAll(async () => {
    await app.close();
    await store.remove();
  });

  const get = (url: string, headers: Record<string, string> = AS_PLATFORM) =>
    app.inject({ method: "GET", url, headers });
  const post = (url: string, payload: object, headers: Record<string, string> = AS_PLATFORM) =>
    app.inject({ method: "POST", url, payload, headers });

  it.each(["/v1/calls/", "/v1/sessions/", "/v1/payers/", "/v1/batches/"])(
    "a part of an address that is too long belongs to no route: %s",
    async (path) => {
      for (const headers of [{}, AS_PLATFORM]) {
        const reply = await get(path + "x".repeat(300), headers as Record<string, string>);
        expect(reply.statusCode).toBe(404);
        expect(reply.json()).toMatchObject({ code: "not_found" });
      }
      expect(lines).toEqual([]);
    },
  );

  it.each(["%00", "a%00b", "%0A"])("an id with a control character is refused: %s", async (id) => {
    for (const path of [`/v1/find?id=x${id}y`, `/v1/sessions/x${id}`, `/v1/calls/x${id}`, `/v1/turns/x${id}`]) {
      expect([path, (await get(path)).statusCode]).toEqual([path, 400]);
    }
    expect((await post(`/v1/sessions/x${id}/close`, {})).statusCode).toBe(400);
    expect((await post(`/v1/calls/x${id}/capture`, {})).statusCode).toBe(400);
    const tool = "/v1/tools/0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
    expect((await post(tool, { name: decodeURIComponent(`a${id}b`) })).statusCode).toBe(400);
    expect(lines).toEqual([]);
  });

  it("half of a surrogate pair is refused, because no database gives it back", async () => {
    const call = { callId: "c", sessionId: "s", toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b", priceUsd: "1" };
    const reply = await post("/v1/calls", { ...call, method: "\ud800" });
    expect(reply.json()).toMatchObject({
      code: "invalid_request",
      error: "The request cannot be taken: method must be well-formed Unicode.",
    });
    expect((await post("/v1/calls", { ...call, method: "😀" })).json()).toMatchObject({ code: "session_not_found" });
  });

  it("the name of the scheme is written in any case", async () => {
    for (const scheme of ["bearer", "BEARER", "Bearer"]) {
      const reply = await get("/v1/sessions", { authorization: `${scheme} ${SERVICE_TOKEN}` });
      expect([scheme, reply.statusCode]).toEqual([scheme, 200]);
    }
    expect((await get("/v1/sessions", { authorization: `Basic ${SERVICE_TOKEN}` })).statusCode).toBe(401);
  });

  it("what was refused as things stood is judged again under its key, and what was done is answered again", async () => {
    const headers = { ...AS_PLATFORM, "idempotency-key": "a-session" };
    const request = { payer: ALICE, maxSpendUsd: "1" };
    const refused = await post("/v1/sessions", request, headers);
    expect(refused.statusCode).toBe(402);
    expect(refused.json()).toMatchObject({ code: "insufficient_allowance", helpUrl: HELP_URL });
    allowance = 5_000_000n;
    const opened = await post("/v1/sessions", request, headers);
    expect(opened.statusCode).toBe(200);
    allowance = 0n;
    const again = await post("/v1/sessions", request, headers);
    expect([again.body, again.headers["idempotency-replayed"]]).toEqual([opened.body, "true"]);
  });

  it("a payer without a wallet is told where to get help", async () => {
    const reply = await post("/v1/preflight", { payer: null, amountUsd: "1" });
    expect(reply.json()).toEqual({
      allowed: false,
      code: "no_wallet",
      reason: "There is no wallet to be charged.",
      helpUrl: HELP_URL,
    });
  });

  it("a tool is shown under the name that the platform gave it last", async () => {
    const tool = "/v1/tools/0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
    expect((await get(tool)).json()).toMatchObject({ name: null, settledUsd: "0.00" });
    expect((await post(tool, { name: "Weather" })).json()).toMatchObject({ name: "Weather" });
    expect((await post(tool, { name: "Climate" })).json()).toMatchObject({ name: "Climate" });
    expect((await get(tool)).json()).toMatchObject({ name: "Climate" });
    expect((await post(tool, { name: "" })).statusCode).toBe(400);
    expect((await post(tool, { name: "Weather" }, AS_BUYER)).statusCode).toBe(401);
  });

  it("a login starts an audit from the console's own page, and writes nothing else", async () => {
    const login = await post("/console/login", { token: CONSOLE_TOKEN }, {});
    const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
    const own = { cookie, "x-settlement-console": "1" };
    // As a form of another site would send it.
    expect((await post("/v1/audit", {}, { cookie })).statusCode).toBe(401);
    expect((await get("/v1/audit?run=yes", { cookie })).statusCode).toBe(400);
    expect(audits).toBe(0);
    expect((await post("/v1/audit", {}, own)).statusCode).toBe(200);
    expect(audits).toBe(1);
    expect((await post("/v1/audit", {})).statusCode).toBe(200);
    expect(audits).toBe(2);
    expect((await post(`/v1/payers/${ALICE}/clear-debt`, {}, own)).statusCode).toBe(401);
    expect((await post("/v1/audit", {}, {})).statusCode).toBe(401);
  });
});

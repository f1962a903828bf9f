import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeystore } from "../../settlement/chain/createKeystore.ts";
import { systemClock } from "../../settlement/clock.ts";
import type { Environment } from "../../settlement/config.ts";
import { createDaemon } from "../../settlement/daemon/createDaemon.ts";
import { createServices } from "../../settlement/daemon/createServices.ts";
import { createMetrics } from "../../settlement/daemon/metrics.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { openEngine } from "../../settlement/openEngine.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import {
  askOf,
  environmentOf,
  SERVICE_TOKEN,
  settleCommand,
  spawnSettle,
  startTestDaemon,
  type TestDaemon,
} from "./testDaemon.ts";

const SESSIONS = "/api/v1/tools/execute/sessions";
const PASSWORD = "the keystore's password";
const NOBODY = "0x00000000000000000000000000000000000000ff";
const POLL = { timeout: 20_000, interval: 50 };

describe("the daemon", () => {
  let chain: LocalChain;
  let folder: string;
  let daemon: TestDaemon;
  let mining: NodeJS.Timeout;
  let environment: Environment;
  let ask: TestDaemon["ask"];
  const secrets: string[] = [SERVICE_TOKEN, PASSWORD];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "daemon-"));
    chain = await startLocalChain({ tools: 2, payers: 4 });
    mining = setInterval(() => void chain.rpc("anvil_mine", ["0x1"]).catch(() => undefined), 100);
    const keystore = join(folder, "operator.json");
    const privateKey = chain.operators[0]?.privateKey ?? "0x";
    await createKeystore({ path: keystore, password: PASSWORD, privateKey });
    environment = {
      ...(await environmentOf(chain, join(folder, "ledger.db"))),
      SETTLEMENT_KEYSTORES: keystore,
      SETTLEMENT_KEYSTORE_PASSWORD: PASSWORD,
    };
    daemon = await startTestDaemon(chain, join(folder, "ledger.db"));
    ask = daemon.ask;
    secrets.push(privateKey);
  });

  afterAll(async () => {
    await daemon?.stop();
    clearInterval(mining);
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const payerOf = (n: number) => (chain.payers[n]?.address ?? "").toLowerCase() as Address;
  const toolOf = (n: number) => uuidFromToolId(chain.tools[n]?.toolId ?? "0x");
  const turnOf = (turnId: string, payer = payerOf(0)) => ({
    turnId,
    payer,
    outcome: "delivered",
    modelCostUsd: "0.012345",
    tools: [{ toolId: toolOf(0), amountUsd: "0.10", calls: 3 }],
  });
  const callOf = (callId: string, sessionId: string, priceUsd = "0.001") => ({
    callId,
    sessionId,
    toolId: toolOf(1),
    method: "quote",
    priceUsd,
  });

  async function apiKeyOf(payer: Address): Promise<{ key: string; keyId: string }> {
    const { status, body } = await ask("POST", "/v1/api-keys", { payer, label: "agent" });
    expect(status).toBe(201);
    const { key, keyId } = body as unknown as { key: string; keyId: string };
    secrets.push(key);
    return { key, keyId };
  }

  async function sessionOf(key: string, maxSpendUsd = "1.00"): Promise<string> {
    const { body } = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd }, { key });
    return (body as unknown as { session: { sessionId: string } }).session.sessionId;
  }

  // What only requests change and settlement does not, to show that a refused request has changed nothing.
  const totals = async () => {
    const { totals: sums } = (await ask("GET", "/v1/status")).body as unknown as { totals: Record<string, string> };
    return { accruedUsd: sums.accruedUsd, voidedUsd: sums.voidedUsd };
  };

  describe("for a payer", () => {
    it("starts, shows and closes a session in exactly the protocol's form", async () => {
      const { key } = await apiKeyOf(payerOf(0));
      const started = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: "1.00" }, { key });
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
      expect(started).toMatchObject({ status: 200 });
      expect(started.body).toStrictEqual({ success: true, mode: "execute", session });
      const id = (started.body as unknown as { session: { sessionId: string } }).session.sessionId;

      await ask("POST", "/v1/calls", callOf("c1", id));
      await ask("POST", "/v1/calls/c1/capture");
      await ask("POST", "/v1/calls", callOf("c2", id, "0.002"));
      const shown = await ask("GET", `${SESSIONS}/${id}`, undefined, { key });
      const spent = {
        methodPrice: "0.002",
        spent: "0.001",
        remaining: "0.997",
        pendingAccruedCount: 1,
        pendingAccruedUsd: "0.001",
      };
      expect(shown.body).toStrictEqual({ success: true, mode: "execute", session: { ...session, ...spent } });

      const closed = await ask("POST", `${SESSIONS}/${id}/close`, { mode: "execute" }, { key });
      const flushed = { status: "closed", closeRequested: true, pendingAccruedCount: 0, pendingAccruedUsd: "0.00" };
      expect(closed.body).toStrictEqual({
        success: true,
        mode: "execute",
        session: { ...session, ...spent, ...flushed },
      });
      // The call that was running may still fail.
      expect(await ask("POST", "/v1/calls/c2/void")).toMatchObject({ body: { session: { remaining: "0.999" } } });
    });

    it("answers the same key and body with the first answer, and another body with a conflict", async () => {
      const { key } = await apiKeyOf(payerOf(1));
      const headers = { "idempotency-key": "start-1" };
      const body = { mode: "execute", maxSpendUsd: "0.50" };
      const [first, twin] = await Promise.all([
        ask("POST", SESSIONS, body, { key, headers }),
        ask("POST", SESSIONS, body, { key, headers }),
      ]);
      expect(twin.text).toBe(first.text);
      const again = await ask("POST", SESSIONS, body, { key, headers });
      expect(again).toMatchObject({ status: 200, text: first.text });
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      const other = await ask("POST", SESSIONS, { ...body, maxSpendUsd: "0.60" }, { key, headers });
      expect(other).toMatchObject({ status: 409, body: { code: "idempotency_conflict", error: expect.any(String) } });
      const { body: listed } = await ask("GET", `/v1/sessions?payer=${payerOf(1)}`);
      expect((listed as unknown as { sessions: unknown[] }).sessions).toHaveLength(1);
      // The key is this caller's own: another caller's is another key.
      const stranger = await apiKeyOf(payerOf(2));
      const strangers = await ask("POST", SESSIONS, body, { key: stranger.key, headers });
      expect(strangers.text).not.toBe(first.text);
    });

    it("keeps a refusal under its key as well", async () => {
      const { key } = await apiKeyOf(NOBODY);
      const headers = { "idempotency-key": "poor" };
      const first = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: "1" }, { key, headers });
      const again = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: "1" }, { key, headers });
      expect(first.status).toBe(402);
      expect(again).toMatchObject({ status: 402, text: first.text });
    });

    it("refuses without a spending cap and says where to set one", async () => {
      const { key } = await apiKeyOf(NOBODY);
      const { status, body } = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: "1" }, { key });
      expect(status).toBe(402);
      expect(body).toStrictEqual({
        error: "The spending cap is not set or too small.",
        code: "insufficient_allowance",
        helpUrl: "https://help.example/cap",
      });
    });

    it("refuses a budget above what the payer has", async () => {
      const { key } = await apiKeyOf(payerOf(0));
      const reply = await ask("POST", SESSIONS, { mode: "execute", maxSpendUsd: "100000" }, { key });
      expect(reply).toMatchObject({ status: 402, body: { code: "payment_failed" } });
    });

    it("shows nobody somebody else's session", async () => {
      const alice = await apiKeyOf(payerOf(0));
      const bob = await apiKeyOf(payerOf(1));
      const id = await sessionOf(alice.key);
      const answer = { status: 404, body: { error: "There is no such session.", code: "session_not_found" } };
      expect(await ask("GET", `${SESSIONS}/${id}`, undefined, { key: bob.key })).toMatchObject(answer);
      expect(await ask("POST", `${SESSIONS}/${id}/close`, { mode: "execute" }, { key: bob.key })).toMatchObject(answer);
      const unknown = await ask("GET", `${SESSIONS}/unknown`, undefined, { key: bob.key });
      expect(unknown).toMatchObject(answer);
      expect(await ask("GET", `${SESSIONS}/${id}`, undefined, { key: alice.key })).toMatchObject({
        body: { session: { status: "open" } },
      });
    });

    it.each([
      ["no budget", { mode: "execute" }, "invalid_max_spend", "maxSpendUsd is missing"],
      ["a number", { mode: "execute", maxSpendUsd: 1 }, "invalid_max_spend", "maxSpendUsd has to be dollars as a text"],
      ["seven decimals", { mode: "execute", maxSpendUsd: "0.1234567" }, "invalid_max_spend", "has 7 decimals"],
      ["nothing to spend", { mode: "execute", maxSpendUsd: "0" }, "invalid_max_spend", "has to be more than zero"],
      ["a negative budget", { mode: "execute", maxSpendUsd: "-1" }, "invalid_max_spend", "is not an amount"],
      ["too much", { mode: "execute", maxSpendUsd: "999999999999" }, "invalid_max_spend", "more than the largest"],
      ["another mode", { mode: "query", maxSpendUsd: "1" }, "invalid_request", 'mode has to be "execute"'],
      ["a list", [], "invalid_request", "The body has to be a JSON object"],
      ["no JSON", "{", "invalid_request", "The body is not valid JSON"],
      ["a poisoned key", '{"__proto__": {}, "mode": "execute"}', "invalid_request", ""],
    ])("refuses a session with %s", async (_, body, code, sentence) => {
      const { key } = await apiKeyOf(payerOf(0));
      const before = await totals();
      const reply = await ask("POST", SESSIONS, body, { key });
      expect(reply).toMatchObject({ status: 400, body: { code, error: expect.stringContaining(sentence) } });
      expect(Object.keys(reply.body).sort()).toEqual(["code", "error"]);
      expect(await totals()).toEqual(before);
    });

    it("refuses no key, a wrong key, a revoked key and the service token", async () => {
      const { key, keyId } = await apiKeyOf(payerOf(0));
      const id = await sessionOf(key);
      const almost = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
      expect(await ask("GET", `${SESSIONS}/${id}`, undefined, { key: almost })).toMatchObject({ status: 401 });
      await ask("POST", `/v1/api-keys/${keyId}/revoke`);
      for (const bad of [null, "sk_live_short", `sk_live_${"A".repeat(43)}`, key, SERVICE_TOKEN]) {
        const reply = await ask("GET", `${SESSIONS}/${id}`, undefined, { key: bad });
        expect(reply).toMatchObject({ status: 401, body: { code: "unauthorized", error: expect.any(String) } });
      }
      expect(await ask("GET", "/v1/status", undefined, { key })).toMatchObject({ status: 401 });
    });

    it("lets an API key in so often and no more", async () => {
      const { key } = await apiKeyOf(payerOf(3));
      const replies = await Promise.all(
        Array.from({ length: 600 }, () => ask("GET", `${SESSIONS}/unknown`, undefined, { key })),
      );
      const refused = replies.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]).toMatchObject({ body: { code: "rate_limited" } });
      expect(refused[0]?.headers.get("retry-after")).toBe("1");
      expect(replies.filter(({ status }) => status === 404).length).toBeGreaterThanOrEqual(100);
    });
  });

  describe("for the platform", () => {
    it("answers a pre-flight with figures, and a no with its reason", async () => {
      const { body } = await ask("POST", "/v1/preflight", { payer: payerOf(3), amountUsd: "1" });
      expect(body).toMatchObject({ allowed: true, code: "ok", figures: { balanceUsd: "1000.00", allowanceUsd: null } });
      expect(await ask("POST", "/v1/preflight", { payer: payerOf(3), amountUsd: "1000.01" })).toMatchObject({
        status: 200,
        body: { allowed: false, code: "payment_failed", reason: "There is not enough USDC." },
      });
      expect(await ask("POST", "/v1/preflight", { payer: null, amountUsd: "1" })).toMatchObject({
        body: { allowed: false, code: "no_wallet" },
      });
    });

    it("records a turn once, whatever is sent again, and follows it to its proof and into both statements", async () => {
      const recorded = await ask("POST", "/v1/turns", turnOf("turn-1", payerOf(3)));
      const { chargeIds } = recorded.body as unknown as { chargeIds: string[] };
      expect(recorded).toMatchObject({ status: 200, body: { turnId: "turn-1" } });
      expect(chargeIds).toHaveLength(2);
      expect((await ask("POST", "/v1/turns", turnOf("turn-1", payerOf(3)))).text).toBe(recorded.text);
      const other = { ...turnOf("turn-1", payerOf(3)), modelCostUsd: "1" };
      expect(await ask("POST", "/v1/turns", other)).toMatchObject({ status: 409, body: { code: "conflict" } });

      const states = async () =>
        ((await ask("GET", "/v1/turns/turn-1")).body as unknown as { charges: { state: string }[] }).charges.map(
          ({ state }) => state,
        );
      await expect.poll(states, POLL).toEqual(["final", "final"]);

      const proven = await ask("GET", `/v1/charges/${chargeIds[0]}/proof`);
      expect(proven).toMatchObject({
        status: 200,
        body: { charge: { state: "final" }, settledAt: expect.any(String) },
      });
      const { root } = proven.body as unknown as { root: `0x${string}` };
      expect(await chain.router.settledAt(root)).toBeGreaterThan(0n);
      expect(await ask("GET", `/v1/batches/${root}`)).toMatchObject({
        body: { state: "final", txHashes: [expect.stringMatching(/^0x/)] },
      });

      const statement = await ask("GET", `/v1/payers/${payerOf(3)}/statement?limit=1`);
      const { charges, next } = statement.body as unknown as { charges: { amountUsd: string }[]; next: string };
      const rest = await ask("GET", `/v1/payers/${payerOf(3)}/statement?after=${next}`);
      const both = [...charges, ...(rest.body as unknown as { charges: { amountUsd: string }[] }).charges];
      expect(both.map(({ amountUsd }) => amountUsd).sort()).toEqual(["0.012345", "0.10"]);
      const csv = await ask("GET", `/v1/payers/${payerOf(3)}/statement?format=csv`);
      expect(csv.headers.get("content-type")).toContain("text/csv");
      expect(csv.text.split("\r\n")).toHaveLength(4);
      expect(csv.text).toMatch(/^accruedAt,chargeId,turnId,/);

      const developer = chain.tools[0]?.developer.address;
      const earned = await ask("GET", `/v1/developers/${developer}/statement`);
      expect(earned.body).toMatchObject({
        earnings: [{ batch: root, toolId: toolOf(0), amountUsd: "0.10", developerShareUsd: "0.09" }],
        next: null,
      });
      expect(await ask("GET", `/v1/tools/${toolOf(0)}`)).toMatchObject({ body: { developerShareUsd: "0.09" } });
      expect(await ask("GET", `/v1/payers/${payerOf(3)}`)).toMatchObject({ body: { pendingUsd: "0.00" } });
    });

    it("holds, captures and voids a call once, and keeps parallel calls within the budget", async () => {
      const opened = { payer: payerOf(2), maxSpendUsd: "0.005", sessionId: "budget" };
      expect(await ask("POST", "/v1/sessions", opened)).toMatchObject({ status: 200 });
      expect(await ask("POST", "/v1/sessions", opened)).toMatchObject({ status: 200 });
      expect(await ask("POST", "/v1/sessions", { ...opened, maxSpendUsd: "1" })).toMatchObject({ status: 409 });
      const held = await Promise.all(
        Array.from({ length: 8 }, (_, i) => ask("POST", "/v1/calls", callOf(`b${i}`, "budget"))),
      );
      expect(held.filter(({ status }) => status === 200)).toHaveLength(5);
      expect(held.find(({ status }) => status !== 200)).toMatchObject({
        status: 402,
        body: { code: "session_budget_exceeded", session: { remaining: "0.00", maxSpend: "0.005" } },
      });
      const [one, two] = held.flatMap(({ status }, i) => (status === 200 ? [`b${i}`] : []));
      expect(await ask("POST", `/v1/calls/${one}/capture`)).toMatchObject({ body: { call: { state: "captured" } } });
      expect(await ask("POST", `/v1/calls/${one}/capture`)).toMatchObject({ status: 200 });
      expect(await ask("POST", `/v1/calls/${one}/void`)).toMatchObject({ status: 409, body: { code: "conflict" } });
      expect(await ask("POST", `/v1/calls/${two}/void`)).toMatchObject({ body: { session: { remaining: "0.001" } } });
      expect(await ask("POST", `/v1/calls/${two}/capture`)).toMatchObject({ status: 409 });
      expect(await ask("GET", `/v1/calls/${two}`)).toMatchObject({ body: { call: { state: "voided" } } });

      await ask("POST", "/v1/sessions/budget/close");
      expect(await ask("POST", "/v1/calls", callOf("late", "budget"))).toMatchObject({
        status: 409,
        body: { code: "session_closed", session: { status: "closed" } },
      });
      expect(await ask("GET", "/v1/calls/late")).toMatchObject({ status: 404 });
    });

    it("refuses a call of a session whose time is over", async () => {
      await ask("POST", "/v1/sessions", { payer: payerOf(2), maxSpendUsd: "1", sessionId: "short", ttlSeconds: 1 });
      const status = async () =>
        ((await ask("GET", "/v1/sessions/short")).body as unknown as { session: { status: string } }).session.status;
      await expect.poll(status, POLL).toBe("expired");
      expect(await ask("POST", "/v1/calls", callOf("expired", "short"))).toMatchObject({
        status: 409,
        body: { code: "session_expired", session: { status: "expired" } },
      });
    });

    it.each([
      ["no payer", { payer: undefined }, "payer is missing"],
      ["a payer that is no address", { payer: "alice" }, "payer has to be an address"],
      ["money as a number", { modelCostUsd: 0.1 }, "modelCostUsd has to be dollars as a text"],
      ["an exponent", { modelCostUsd: "1e3" }, "modelCostUsd is wrong"],
      ["no such outcome", { outcome: "maybe" }, 'outcome has to be "delivered" or "failed"'],
      ["a tool without UUID", { tools: [{ toolId: "x", amountUsd: "1", calls: 1 }] }, "tools[0].toolId is wrong"],
      [
        "too many calls",
        { tools: [{ toolId: "x", amountUsd: "1", calls: 101 }] },
        "tools[0].calls has to be from 0 to 100",
      ],
      ["a field that is not known", { model_cost: "1" }, "model_cost is not known here"],
      ["a turn without a name", { turnId: "" }, "turnId has to have 1 to 200"],
      ["a hash that is none", { requestHash: "0x12" }, "requestHash has to be a hash"],
    ])("refuses a turn with %s and changes nothing", async (_, fields, sentence) => {
      const before = await totals();
      const reply = await ask("POST", "/v1/turns", { ...turnOf("refused"), ...fields });
      expect(reply).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect((reply.body as unknown as { error: string }).error).toContain(sentence);
      expect(await ask("GET", "/v1/turns/refused")).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect(await totals()).toEqual(before);
    });

    it("refuses a turn that names a tool twice", async () => {
      const [tool] = turnOf("twice").tools;
      const reply = await ask("POST", "/v1/turns", { ...turnOf("twice"), tools: [tool, tool] });
      expect(reply).toMatchObject({ status: 400, body: { error: "Turn twice names a tool twice." } });
    });

    it.each([
      ["GET", "/v1/nothing", undefined, 404, "not_found"],
      ["PUT", "/v1/turns", {}, 404, "not_found"],
      ["GET", "/v1/charges/0x12", undefined, 400, "invalid_request"],
      ["GET", `/v1/charges/0x${"1".repeat(64)}`, undefined, 404, "not_found"],
      ["GET", `/v1/charges/0x${"1".repeat(64)}/proof`, undefined, 404, "not_found"],
      ["GET", `/v1/batches/0x${"1".repeat(64)}`, undefined, 404, "not_found"],
      ["GET", "/v1/sessions/unknown", undefined, 404, "session_not_found"],
      ["POST", "/v1/sessions/unknown/close", undefined, 404, "session_not_found"],
      ["POST", "/v1/calls/unknown/capture", undefined, 404, "not_found"],
      ["POST", "/v1/calls/unknown/void", undefined, 404, "not_found"],
      ["POST", "/v1/api-keys/unknown/revoke", undefined, 404, "not_found"],
      ["GET", "/v1/batches?limit=1001", undefined, 400, "invalid_request"],
      ["GET", "/v1/batches?limit=many", undefined, 400, "invalid_request"],
      ["GET", `/v1/payers/${NOBODY}/statement?after=x`, undefined, 400, "invalid_request"],
      ["GET", `/v1/payers/${NOBODY}/statement?from=yesterday`, undefined, 400, "invalid_request"],
      ["GET", "/v1/sessions/%E0%A4%A", undefined, 400, "invalid_request"],
      ["POST", "/v1/turns", `{"turnId":"${"x".repeat(70_000)}"}`, 413, "too_large"],
    ])("answers %s %s in the protocol's form", async (method, path, body, status, code) => {
      const reply = await ask(method, path, body);
      expect(reply).toMatchObject({ status, body: { code, error: expect.any(String) } });
      expect(Object.keys(reply.body).sort()).toEqual(["code", "error"]);
    });

    it("answers what is no JSON, no HTTP or too long a header in the protocol's form", async () => {
      const form = await ask("POST", "/v1/turns", "a=b", {
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expect(form).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
      const key = await ask("POST", "/v1/turns", turnOf("k"), { headers: { "idempotency-key": "a b" } });
      expect(key).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(await raw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
      const header = `GET /health HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`;
      expect(await raw(header)).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/);
    });

    it("says of every answer that it is kept nowhere and is what its type says", async () => {
      for (const path of ["/health", "/docs", "/v1/status", "/v1/charges/nonsense", "/nowhere"]) {
        const { headers } = await fetch(`${daemon.url}${path}`);
        expect([path, headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
          path,
          "no-store",
          "nosniff",
        ]);
      }
    });

    it("shows a new API key once, also when the request is repeated", async () => {
      const headers = { "idempotency-key": "make-a-key" };
      const request = { payer: payerOf(0), label: "once" };
      const first = (await ask("POST", "/v1/api-keys", request, { headers })).body as unknown as { key: string };
      secrets.push(first.key);
      const again = await ask("POST", "/v1/api-keys", request, { headers });
      expect(again).toMatchObject({ status: 201, body: { ...first, key: null } });
      const listed = await ask("GET", `/v1/api-keys?payer=${payerOf(0)}`);
      expect(listed.text).toContain("once");
      expect(listed.text).not.toContain("sk_live_");
    });
  });

  describe("for who watches it", () => {
    it("is healthy, and ready with a reason for every part", async () => {
      expect(await ask("GET", "/health", undefined, { key: null })).toMatchObject({
        status: 200,
        body: { status: "ok" },
      });
      const { status, body } = await ask("GET", "/ready", undefined, { key: null });
      const part = { ok: true, reason: expect.any(String) };
      const components = { ledger: part, chain: part, operators: part, settlement: part, loop: part };
      expect({ status, body }).toEqual({ status: 200, body: { ready: true, components } });
    });

    it("prints metrics of the ledger, the chain, the engine and itself", async () => {
      const { text } = await ask("GET", "/metrics", undefined, { key: null });
      for (const line of [
        /^settlement_micro_usdc\{state="settled"\} [1-9]/m,
        /^settlement_events_total\{kind="final"\} [1-9]/m,
        /^settlement_sends_total\{outcome="accepted"\} [1-9]/m,
        /^settlement_gas_per_call_count [1-9]/m,
        /^settlement_rpc_seconds_count\{endpoint="endpoint 1",method="eth_call"\} [1-9]/m,
        /^settlement_operator_wei\{operator="0x.{40}"\} [1-9]/m,
        /^settlement_insurance_micro_usdc [1-9]/m,
        /^settlement_drift 0$/m,
        /^settlement_http_request_seconds_count\{method="POST",path="\/v1\/turns",status="200"\} [1-9]/m,
      ]) {
        expect(text).toMatch(line);
      }
    });

    it("describes every route in its OpenAPI document and on a page without foreign assets", async () => {
      const { body } = await ask("GET", "/openapi.json", undefined, { key: null });
      const { paths } = body as unknown as { paths: Record<string, Record<string, unknown>> };
      expect(paths[`${SESSIONS}/{id}/close`]?.post).toBeDefined();
      expect(Object.keys(paths).length).toBeGreaterThan(20);
      const page = await ask("GET", "/docs", undefined, { key: null });
      expect(page.text).toContain("/v1/turns");
      expect(page.text).not.toMatch(/(src|href)="https?:/);
    });

    it("logs a charge under its id, and its batch and transaction under theirs", () => {
      const events = daemon.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const accrued = events.find(({ event, turn }) => event === "accrued" && turn === "turn-1");
      expect(accrued?.charges).toHaveLength(2);
      expect(events.find(({ event }) => event === "sent")).toMatchObject({
        batch: expect.stringMatching(/^0x/),
        tx: expect.stringMatching(/^0x/),
      });
    });
  });

  describe("on the command line", () => {
    const settle = (...args: string[]) => settleCommand(args, environment);

    it("helps with everything and with each command", async () => {
      expect(await settle("--help")).toMatchObject({ code: 0, out: expect.stringContaining("reconcile") });
      expect(await settle("doctor", "--help")).toMatchObject({ code: 0, out: expect.stringContaining("Usage:") });
      expect(await settle("nothing")).toMatchObject({ code: 2, err: expect.stringContaining("no command") });
      expect(await settle("status", "--nothing")).toMatchObject({ code: 2, err: expect.stringContaining("--nothing") });
      expect(await settle("proof", "0x12")).toMatchObject({ code: 2 });
    });

    it("names what is missing in the configuration", async () => {
      const run = await settleCommand(["status"], { ...environment, SETTLEMENT_LEDGER: undefined });
      expect(run).toMatchObject({ code: 1, err: "SETTLEMENT_LEDGER is missing.\n" });
    });

    it("makes, lists and revokes API keys that the daemon knows at once", async () => {
      const made = JSON.parse((await settle("keys", "create", payerOf(1), "--json")).out) as {
        key: string;
        keyId: string;
      };
      secrets.push(made.key);
      const id = await sessionOf(made.key);
      expect(id).toEqual(expect.any(String));
      const listed = await settle("keys", "list", payerOf(1));
      expect(listed.out).toContain(made.keyId);
      expect(listed.out).not.toContain("sk_live_");
      expect(await settle("keys", "revoke", made.keyId)).toMatchObject({ code: 0 });
      expect(await ask("GET", `${SESSIONS}/${id}`, undefined, { key: made.key })).toMatchObject({ status: 401 });
      expect(await settle("keys", "revoke", "unknown")).toMatchObject({
        code: 1,
        err: "There is no API key unknown.\n",
      });
    });

    it("finds the ledger right beside a running daemon, and proves a charge", async () => {
      await expect
        .poll(async () => JSON.parse((await settle("status", "--json")).out).totals.pendingUsd, POLL)
        .toBe("0.00");
      expect(await settle("reconcile")).toMatchObject({ code: 0, out: expect.stringContaining("nothing differs") });
      expect(await settle("audit")).toMatchObject({ code: 0, out: expect.stringContaining("the ledger is right") });
      const { charges } = (await ask("GET", "/v1/turns/turn-1")).body as unknown as { charges: { chargeId: string }[] };
      const proof = await settle("proof", charges[0]?.chargeId ?? "", "--json");
      expect(proof.code).toBe(0);
      expect(JSON.parse(proof.out)).toMatchObject({ settledAt: expect.any(String), path: expect.any(Array) });
    });

    it("the doctor finds everything well", async () => {
      const run = await settle("doctor", "--json");
      const { checks } = JSON.parse(run.out) as { checks: { name: string; ok: boolean; found: string }[] };
      expect(checks.filter(({ ok }) => !ok)).toEqual([]);
      expect(run.code).toBe(0);
      expect(checks.find(({ name }) => name === "USDC")?.found).toMatch(/^implementation 0x/);
    });

    it("the doctor says what to do about a wrong chain", async () => {
      const run = await settleCommand(["doctor"], { ...environment, SETTLEMENT_CHAIN_ID: "84532" });
      expect(run.code).toBe(1);
      expect(run.out).toContain("take it out of SETTLEMENT_RPC_URLS");
    });
  });

  it("a daemon process drains on SIGTERM, and `drain` settles what it left", async () => {
    const own = { ...environment, SETTLEMENT_LEDGER: join(folder, "process.db"), SETTLEMENT_TICK_MS: "60000" };
    const child = spawnSettle(["daemon"], own);
    const ended = new Promise((resolve) => child.on("close", (code) => resolve(code)));
    let log = "";
    child.stdout.on("data", (chunk: Buffer) => {
      log += chunk;
    });
    await expect.poll(() => /"url":"(http:[^"]+)"/.exec(log)?.[1], POLL).toBeDefined();
    const url = /"url":"(http:[^"]+)"/.exec(log)?.[1] ?? "";
    const port = new URL(url).port;
    expect(await settleCommand(["daemon"], { ...own, SETTLEMENT_LISTEN: `127.0.0.1:${port}` })).toMatchObject({
      code: 1,
      err: `Port ${port} is taken; SETTLEMENT_LISTEN names another one.\n`,
    });
    await expect.poll(async () => (await askOf(url)("GET", "/ready")).text, POLL).toContain("rounds end");
    expect(await askOf(url)("POST", "/v1/turns", turnOf("left"))).toMatchObject({ status: 200 });
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(log).toContain('"event":"draining"');
    // Its last round has sent the batch; nobody has seen it final yet.
    expect(log).toContain('"event":"sent"');
    const dry = await settleCommand(["settle", "--dry-run", "--json"], own);
    expect(JSON.parse(dry.out)).toMatchObject({ accounts: [], holding: null });
    expect(await settleCommand(["drain", "--minutes", "1"], own)).toMatchObject({
      code: 0,
      out: "nothing is pending\n",
    });
    for (const secret of secrets) expect(log).not.toContain(secret);
  });

  it("a daemon without an operator key is not ready and says why", async () => {
    const other = await startTestDaemon(chain, join(folder, "other.db"), { operators: false });
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
    expect(await ledger.sessionsOfPayer(payerOf(0), 10, 0)).toHaveLength(1);
    expect((await app.inject(request)).body).toBe(again.body);
    await close();
  });

  it("holds while USDC is paused, says so, and goes on by itself", async () => {
    await chain.usdc.pause();
    try {
      await ask("POST", "/v1/turns", turnOf("paused"));
      const settlement = async () =>
        ((await ask("GET", "/ready")).body as unknown as { components: { settlement: unknown } }).components.settlement;
      await expect.poll(settlement, POLL).toEqual({ ok: false, reason: "holding: USDC is paused" });
      await expect.poll(() => daemon.lines.some((line) => line.includes('"alert":"holding"')), POLL).toBe(true);
    } finally {
      await chain.usdc.unpause();
    }
    const states = async () =>
      ((await ask("GET", "/v1/turns/paused")).body as unknown as { charges: { state: string; attempts: number }[] })
        .charges;
    await expect
      .poll(states, POLL)
      .toEqual([expect.objectContaining({ state: "final", attempts: 0 }), expect.objectContaining({ state: "final" })]);
  });

  it("nothing secret is in any line of the log", () => {
    const log = daemon.lines.join("");
    expect(log.length).toBeGreaterThan(1_000);
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toContain("sk_live_");
  });

  // The server without a loop and without a port.
  async function openApp(name: string) {
    const router = (await chain.router.getAddress()) as Address;
    const { chainId, url } = chain;
    const ledgerFile = join(folder, name);
    const opened = await openEngine({ chainId, rpcUrls: [url], router, ledger: ledgerFile, keys: [], holder: name });
    const { engine, ledger } = opened;
    const readiness = async () => Promise.reject(new Error("nobody asks"));
    const { app, drain } = createDaemon({
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
      rateLimitPerSecond: 50,
      log: pino({ level: "silent" }),
      metrics: createMetrics(systemClock),
    });
    const close = async () => {
      await app.close();
      await opened.close();
    };
    return { app, drain, ledger, close };
  }

  function raw(text: string): Promise<string> {
    const { hostname, port } = new URL(daemon.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = "";
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(answer));
    });
  }
});

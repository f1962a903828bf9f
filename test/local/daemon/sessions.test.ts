import { describe, expect, it } from "vitest";
import { NOBODY, useDaemon } from "./useDaemon.ts";

// Sessions as the marketplace opens them for payers, in exactly the protocol's form.
describe("the daemon, about sessions,", () => {
  const { ask, payerOf, callOf, totals } = useDaemon();

  it("starts, shows and closes one in exactly the protocol's form", async () => {
    const payer = payerOf(0);
    const started = await ask("POST", "/v1/sessions", { payer, maxSpendUsd: "1.00" });
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
    expect(started.body).toStrictEqual({ payer, session });
    const id = (started.body as unknown as { session: { sessionId: string } }).session.sessionId;

    await ask("POST", "/v1/calls", callOf("c1", id));
    await ask("POST", "/v1/calls/c1/capture");
    await ask("POST", "/v1/calls", callOf("c2", id, "0.002"));
    const shown = await ask("GET", `/v1/sessions/${id}`);
    const spent = {
      methodPrice: "0.002",
      spent: "0.001",
      remaining: "0.997",
      pendingAccruedCount: 1,
      pendingAccruedUsd: "0.001",
    };
    expect(shown.body).toStrictEqual({ payer, session: { ...session, ...spent } });

    const closed = await ask("POST", `/v1/sessions/${id}/close`);
    const flushed = { status: "closed", closeRequested: true, pendingAccruedCount: 0, pendingAccruedUsd: "0.00" };
    expect(closed.body).toStrictEqual({ payer, session: { ...session, ...spent, ...flushed } });
    // The call that was running may still fail.
    expect(await ask("POST", "/v1/calls/c2/void")).toMatchObject({ body: { session: { remaining: "0.999" } } });
  });

  it("answers the same key and body with the first answer, and another body with a conflict", async () => {
    const headers = { "idempotency-key": "start-1" };
    const body = { payer: payerOf(1), maxSpendUsd: "0.50" };
    const start = (request: object) => ask("POST", "/v1/sessions", request, { headers });
    const [first, twin] = await Promise.all([start(body), start(body)]);
    expect(twin.text).toBe(first.text);
    const again = await start(body);
    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const other = await start({ ...body, maxSpendUsd: "0.60" });
    expect(other).toMatchObject({ status: 409, body: { code: "idempotency_conflict", error: expect.any(String) } });
    const { body: listed } = await ask("GET", `/v1/sessions?payer=${payerOf(1)}`);
    expect((listed as unknown as { sessions: unknown[] }).sessions).toHaveLength(1);
  });

  it("refuses again under the same key while nothing has changed", async () => {
    const start = () =>
      ask("POST", "/v1/sessions", { payer: NOBODY, maxSpendUsd: "1" }, { headers: { "idempotency-key": "poor" } });
    const first = await start();
    expect(first.status).toBe(402);
    expect(await start()).toMatchObject({ status: 402, text: first.text });
  });

  it("refuses without a spending cap and says where to set one", async () => {
    const { status, body } = await ask("POST", "/v1/sessions", { payer: NOBODY, maxSpendUsd: "1" });
    expect(status).toBe(402);
    expect(body).toStrictEqual({
      error: "The spending cap is not set or too small.",
      code: "insufficient_allowance",
      helpUrl: "https://help.example/cap",
    });
  });

  it("refuses a budget above what the payer has", async () => {
    const reply = await ask("POST", "/v1/sessions", { payer: payerOf(0), maxSpendUsd: "100000" });
    expect(reply).toMatchObject({ status: 402, body: { code: "payment_failed" } });
  });

  it.each([
    ["no budget", {}, "invalid_max_spend", "maxSpendUsd is missing"],
    ["a number", { maxSpendUsd: 1 }, "invalid_max_spend", "maxSpendUsd must be dollars as a text"],
    ["seven decimals", { maxSpendUsd: "0.1234567" }, "invalid_max_spend", "has 7 decimals"],
    ["nothing to spend", { maxSpendUsd: "0" }, "invalid_max_spend", "must be more than zero"],
    ["a negative budget", { maxSpendUsd: "-1" }, "invalid_max_spend", "is not an amount"],
    ["too much", { maxSpendUsd: "999999999999" }, "invalid_max_spend", "more than the largest"],
    ["a field that is not known", { maxSpendUsd: "1", ceiling: 1 }, "invalid_request", "ceiling is not known here"],
  ])("refuses one with %s", async (_, fields, code, sentence) => {
    const before = await totals();
    const reply = await ask("POST", "/v1/sessions", { payer: payerOf(0), ...fields });
    expect(reply).toMatchObject({ status: 400, body: { code, error: expect.stringContaining(sentence) } });
    expect(Object.keys(reply.body).sort()).toEqual(["code", "error"]);
    expect(await totals()).toEqual(before);
  });

  it("shows nothing without the token, nor under a buyer's API key, nor where payers once asked", async () => {
    for (const key of [null, "sk_live_short", `sk_live_${"A".repeat(43)}`]) {
      const reply = await ask("GET", "/v1/sessions", undefined, { key });
      expect(reply).toMatchObject({ status: 401, body: { code: "unauthorized", error: expect.any(String) } });
    }
    expect(await ask("GET", "/api/v1/tools/execute/sessions/x")).toMatchObject({ status: 404 });
  });
});

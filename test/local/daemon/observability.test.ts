import { beforeAll, describe, expect, it } from "vitest";
import { useDaemon } from "./useDaemon.ts";

// What an operator watches, after something has settled.
describe("the daemon, for who watches it,", () => {
  const { ask, turnOf, untilFinal, place } = useDaemon();

  beforeAll(async () => {
    await ask("POST", "/v1/turns", turnOf("turn-1"));
    await untilFinal("turn-1");
  });

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
    expect(paths["/v1/sessions/{sessionId}/close"]?.post).toBeDefined();
    expect(Object.keys(paths).length).toBeGreaterThan(20);
    const page = await ask("GET", "/docs", undefined, { key: null });
    expect(page.text).toContain("Context settlement");
    expect(page.text).not.toMatch(/(src|href)="https?:/);
  });

  it("logs a charge under its id, and its batch and transaction under theirs", () => {
    const events = place().daemon.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const accrued = events.find(({ event, turn }) => event === "accrued" && turn === "turn-1");
    expect(accrued?.charges).toHaveLength(2);
    expect(events.find(({ event }) => event === "sent")).toMatchObject({
      submission: expect.stringMatching(/^0x/),
      tx: expect.stringMatching(/^0x/),
    });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { startTestDaemon, type TestDaemon } from "./testDaemon.ts";

const MAX_CHARGES = 6;
const environment = { SETTLEMENT_MAX_BACKLOG_CHARGES: `${MAX_CHARGES}`, SETTLEMENT_FLUSH_CALLS: "1" };

// A daemon without a key settles nothing, so that what waits only grows.
describe("a daemon with too much waiting", () => {
  let world: LocalWorld;
  let folder: string;
  let daemon: TestDaemon;
  const payer = () => world.payers[0]?.address ?? "";
  const toolId = () => uuidFromToolId(world.tools[0]?.toolId ?? "");
  const start = (operators: number) =>
    startTestDaemon(world, join(folder, "ledger.db"), { environment, operators, policy: { maxInFlight: 1 } });

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "overload-"));
    world = await startWorld({ tools: 1, payers: 1 });
    daemon = await start(0);
  });
  afterAll(async () => {
    await daemon?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const turnOf = (turnId: string) => ({
    turnId,
    payer: payer(),
    outcome: "delivered",
    modelCostUsd: "0.01",
    tools: [{ toolId: toolId(), amountUsd: "0.01", calls: 1 }],
  });
  const callOf = (callId: string) => ({ callId, sessionId: "s", toolId: toolId(), method: "quote", priceUsd: "0.01" });
  const accrued = async () =>
    ((await daemon.ask("GET", "/v1/status")).body as unknown as { totals: { accruedUsd: string } }).totals.accruedUsd;

  it("refuses new turns and calls in a sentence and with a time, and takes what it has agreed to", async () => {
    const { ask } = daemon;
    await ask("POST", "/v1/sessions", { payer: payer(), maxSpendUsd: "1", sessionId: "s" });
    for (const callId of ["to-capture", "to-void"]) {
      expect(await ask("POST", "/v1/calls", callOf(callId))).toMatchObject({ status: 200 });
    }
    let accepted = 0;
    for (; (await ask("POST", "/v1/turns", turnOf(`turn-${accepted}`))).status === 200; accepted++) {
      expect(accepted).toBeLessThan(MAX_CHARGES);
    }
    const before = await accrued();

    const refused = await ask("POST", "/v1/turns", turnOf("one-more"));
    expect(refused).toMatchObject({ status: 429, body: { code: "overloaded" } });
    expect(refused.body).toMatchObject({
      error: expect.stringMatching(/^Settlement does not keep up: \d+ charges wait to be settled; try again later\.$/),
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await ask("POST", "/v1/turns", { turns: [turnOf("a"), turnOf("b")] })).toMatchObject({ status: 429 });
    expect(await ask("POST", "/v1/calls", callOf("one-more"))).toMatchObject({ status: 429 });
    expect(await accrued()).toBe(before);

    expect(await ask("POST", "/v1/calls", callOf("to-capture"))).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/calls/to-capture/capture", {})).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/calls/to-void/void", {})).toMatchObject({ status: 200 });
    expect(daemon.lines.filter((line) => line.includes('"overloaded"') && line.includes('"alert"'))).toHaveLength(1);
    expect((await ask("GET", "/metrics")).text).toContain("settlement_overloaded 1");
  });

  it("takes them again once settlement has caught up, and has lost nothing", async () => {
    const before = await accrued();
    await daemon.stop();
    daemon = await start(1);
    await until("a turn to be taken", async () => {
      await world.rpc("anvil_mine", ["0x1"]);
      return (await daemon.ask("POST", "/v1/turns", turnOf("one-more"))).status === 200;
    });
    expect(Number(await accrued())).toBeCloseTo(Number(before) + 0.02, 6);
  });
});

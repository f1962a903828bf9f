import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { Policy } from "../../../settlement/engine/context.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const WAIT_MS = 10_000;

describe("the pace of settlement", () => {
  let world: LocalWorld;
  let folder: string;
  let settlement: WorldEngine | undefined;

  // One ledger for all: what a key has settled must be in it.
  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 1, payers: 3 });
  });
  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    await settlement?.settleAll();
    await settlement?.close();
  });

  const open = async (policy: Partial<Policy>): Promise<WorldEngine> => {
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db"), policy });
    return settlement;
  };

  let turns = 0;
  const deliver = ({ engine }: WorldEngine, payer: number) =>
    engine.recordTurn({
      id: `${turns++}`,
      payer: world.payers[payer]?.address ?? "0x",
      outcome: "delivered",
      modelCost: microUsdc(1_000n),
      tools: [],
      requestHash: NO_HASH,
      responseHash: NO_HASH,
    });

  const count = ({ events }: WorldEngine, kind: string) => events.filter((event) => event.kind === kind).length;

  it("does not wait for what is mined to be final", async () => {
    const bounds = { maxRows: 1, maxLines: 10, maxCharges: 10 };
    const engine = await open({ maxInFlight: 1, bounds });
    for (const payer of [0, 1]) await deliver(engine, payer);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(1);
    await world.rpc("anvil_mine", ["0x1"]);
    await engine.engine.tick();
    expect(count(engine, "included")).toBe(1);
    expect(count(engine, "planned")).toBe(2);
    expect(count(engine, "final")).toBe(0);
  });

  it("makes no batch of little before it has waited, and then of all that came meanwhile", async () => {
    const engine = await open({ batch: { minCharges: 3, maxWaitMs: WAIT_MS } });
    await deliver(engine, 0);
    engine.clock.advance(WAIT_MS - 1);
    await deliver(engine, 1);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(0);
    engine.clock.advance(1);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(1);
    expect(await engine.ledger.listBatches(1, 0)).toMatchObject([{ charges: 2, rows: 2 }]);
  });

  it("makes a batch at once when somebody owes half of its credit", async () => {
    const credit = { base: microUsdc(2_001n), growthBps: 0, max: microUsdc(2_001n) };
    const engine = await open({ batch: { minCharges: 3, maxWaitMs: WAIT_MS }, credit });
    await deliver(engine, 0);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(0);
    await deliver(engine, 0);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(1);
  });

  it("makes a batch at once when there is enough for it", async () => {
    const engine = await open({ batch: { minCharges: 3, maxWaitMs: WAIT_MS } });
    for (const payer of [0, 1, 2]) await deliver(engine, payer);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(1);
  });

  it("makes a batch at once when as many accounts are due as it has rows for", async () => {
    const bounds = { maxRows: 2, maxLines: 10, maxCharges: 10 };
    const engine = await open({ bounds, batch: { minCharges: 1_000, maxWaitMs: WAIT_MS } });
    for (const payer of [0, 1]) await deliver(engine, payer);
    await engine.engine.tick();
    expect(count(engine, "planned")).toBe(1);
  });

  it("waits for nothing when somebody asks for it, as a daemon does that is told to stop", async () => {
    const engine = await open({ batch: { minCharges: 3, maxWaitMs: WAIT_MS } });
    await deliver(engine, 0);
    await engine.engine.tick({ atOnce: true });
    expect(count(engine, "planned")).toBe(1);
  });

  it("brings what the chain calls final all at once into the ledger a few at a time, oldest first", async () => {
    const bounds = { maxRows: 1, maxLines: 10, maxCharges: 10 };
    const engine = await open({ bounds, maxFinalPerTick: 2 });
    for (const payer of [0, 1, 2]) await deliver(engine, payer);
    await engine.engine.tick();
    await world.rpc("anvil_mine", ["0x1"]);
    await engine.engine.tick();
    expect(count(engine, "included")).toBe(3);
    await world.rpc("anvil_mine", ["0x9"]);
    await engine.engine.tick();
    expect(count(engine, "final")).toBe(2);
    await engine.engine.tick();
    expect(count(engine, "final")).toBe(3);
  });
});

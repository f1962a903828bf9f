import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const HOUR_MS = 3_600_000;
const THRESHOLD = microUsdc(1_000_000n);

// Three developers have earned: one enough, one enough but blacklisted, one too little.
const [RICH, BLACKLISTED, POOR] = [0, 1, 2];

describe("bulk payouts", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 3, payers: 1, toolPrice: 2_000_000n });
    settlement = await openWorldEngine(world, {
      ledger: join(folder, "ledger.db"),
      policy: { payoutEveryMs: HOUR_MS, payoutThreshold: THRESHOLD },
    });
    const amounts = [2_000_000n, 2_000_000n, 1_000_000n];
    await settlement.engine.recordTurn({
      id: "turn",
      payer: world.payers[0]?.address ?? "0x",
      outcome: "delivered",
      modelCost: microUsdc(0n),
      tools: world.tools.map(({ toolId }, i) => ({ toolId, amount: microUsdc(amounts[i] ?? 0n), calls: 1 })),
      requestHash: NO_HASH,
      responseHash: NO_HASH,
    });
    await settlement.settleAll();
    await mined(world.usdc.blacklist(developer(BLACKLISTED)));
  });

  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("wait for their time", async () => {
    await settlement.engine.tick();
    expect(await world.router.creditOf(developer(RICH))).toBe(1_800_000n);
  });

  it("push what is above the threshold, and a developer whom the token refuses stops nobody", async () => {
    settlement.clock.advance(HOUR_MS);
    await settlement.engine.tick();
    // The node mines by itself, but not before it answers.
    await world.rpc("anvil_mine", ["0x1"]);
    await settlement.engine.tick();
    expect(await world.usdc.balanceOf(developer(RICH))).toBe(1_800_000n);
    expect(await world.router.creditOf(developer(RICH))).toBe(0n);
    expect(await world.router.creditOf(developer(BLACKLISTED))).toBe(1_800_000n);
    expect(await world.router.creditOf(developer(POOR))).toBe(900_000n);
  });

  it("are not sent when nobody has earned enough", async () => {
    await mined(world.usdc.unBlacklist(developer(BLACKLISTED)));
    await mined(world.router.payout([developer(BLACKLISTED)]));
    const nonce = await world.provider.getTransactionCount(world.operators[0]?.address ?? "");
    settlement.clock.advance(HOUR_MS);
    await settlement.engine.tick();
    expect(await world.provider.getTransactionCount(world.operators[0]?.address ?? "")).toBe(nonce);
  });

  const developer = (n: number | undefined) => {
    const tool = world.tools[n ?? -1];
    if (!tool) throw new RangeError("no such developer");
    return tool.developer.address;
  };
});

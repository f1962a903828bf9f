import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { DEFAULT_POLICY } from "../../../settlement/engine/policy.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const USDC = 1_000_000n;
const MONEY = 500n * USDC;
const PRICE = USDC / 10n;
// Another guardian takes the admin 8 days.
const REFUND_DAYS = 2;

// Whoever has the guardian's key can stop settlement, and nobody else starts it again for 8 days. A refund of prepaid money takes 2: an
// accomplice who has deposited buys meanwhile, and takes the money back before anything is settled.
describe("a thief with the guardian's key and a payer with prepaid money", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 1, payers: 2, payerBalance: MONEY });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
    for (const payer of world.payers) await mined(world.router.connect(payer).deposit(MONEY));
    await settlement.engine.tick();
  });

  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  // Calls for as long as it is let, up to a bound.
  async function buy(wallet: number, most: bigint): Promise<bigint> {
    const { engine } = settlement;
    const payer = world.payers[wallet]?.address.toLowerCase() as Address;
    const toolId = world.tools[0]?.toolId as LocalWorld["tools"][number]["toolId"];
    expect(await engine.startSession(`session-${wallet}`, payer, microUsdc(MONEY))).toMatchObject({ kind: "opened" });
    let bought = 0n;
    for (let i = 0; bought < most; i++) {
      const callId = `call-${wallet}-${i}`;
      const call = { callId, sessionId: `session-${wallet}`, toolId, method: "m", amount: microUsdc(PRICE) };
      if ((await engine.hold(call)).kind !== "held") break;
      await engine.capture(callId, NO_HASHES);
      bought += PRICE;
    }
    return bought;
  }

  it("have no more for nothing than an unknown payer's credit, whether it pauses or suspends", async () => {
    const guardian = world.router.connect(world.parties.guardian);
    const { base } = DEFAULT_POLICY.credit;
    const stops = [
      () => guardian.pause(),
      async () => {
        await mined(guardian.unpause());
        return guardian.suspendOperator(world.operators[0]?.address ?? "");
      },
    ];
    for (const [wallet, stop] of stops.entries()) {
      await mined(stop());
      // What was known before holds for a few seconds more.
      await world.rpc("evm_increaseTime", [60]);
      await world.rpc("evm_mine", []);
      settlement.clock.advance(60_000);
      const payer = world.payers[wallet] as LocalWorld["payers"][number];
      expect(await buy(wallet, 3n * base)).toBe(base);
      await mined(world.router.connect(payer).requestRefund(MONEY));
      await settlement.engine.tick();
      await world.rpc("evm_increaseTime", [REFUND_DAYS * 24 * 3_600]);
      await world.rpc("evm_mine", []);
      await mined(world.router.connect(payer).refund(payer.address));
      expect(await world.usdc.balanceOf(payer.address)).toBe(MONEY);
    }
  });
});

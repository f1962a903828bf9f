import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import { DEFAULT_POLICY } from "../../../settlement/engine/policy.ts";

const PRICE = parseUsd("1");
const CALLS = 30n;
const MONEY = 50n * PRICE;

// Calls beyond a payer's credit are taken because prepaid money covers them. With a wallet that is full whenever a batch is planned and
// empty whenever it is mined, and all of the prepaid money asked back, none of them would be paid before the refund comes.
describe("a payer whose wallet is empty again when its batch is mined", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "settlement-"));
    world = await startWorld({ tools: 1, payers: 1, payerBalance: 2n * MONEY, toolPrice: PRICE });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
  });
  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("pays out of what it has deposited, though it has asked that back", async () => {
    const { engine } = settlement;
    const payer = world.payers[0] ?? expect.fail("there is no payer");
    const { toolId } = world.tools[0] ?? expect.fail("there is no tool");
    await mined(world.router.connect(payer).deposit(MONEY));
    expect(await engine.startSession("s", payer.address.toLowerCase() as Address, microUsdc(MONEY))).toMatchObject({
      kind: "opened",
    });
    for (let n = 0n; n < CALLS; n++) {
      const call = { callId: `c${n}`, sessionId: "s", toolId, method: "m", amount: PRICE };
      expect(await engine.hold(call)).toMatchObject({ kind: "held" });
      await engine.capture(call.callId, NO_HASHES);
    }
    expect(CALLS * PRICE).toBeGreaterThan(DEFAULT_POLICY.credit.base);
    await engine.closeSession("s");
    await mined(world.router.connect(payer).requestRefund(MONEY));

    await world.rpc("evm_setAutomine", [false]);
    await engine.tick();
    const before = { maxPriorityFeePerGas: 10n ** 10n, maxFeePerGas: 10n ** 12n, gasLimit: 100_000n };
    await world.usdc.connect(payer).transfer(world.circle, MONEY, before);
    await world.rpc("evm_mine", []);
    await world.rpc("evm_setAutomine", [true]);

    expect(await world.usdc.balanceOf(payer)).toBe(0n);
    expect((await world.router.prepaidOf(payer)).balance).toBe(MONEY - CALLS * PRICE);
  });
});

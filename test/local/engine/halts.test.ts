import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { recordTurns } from "./recordTurns.ts";

const PAYERS = 3;
const AMOUNT = microUsdc(100_000n);
const DUE = BigInt(PAYERS) * AMOUNT;

// What cannot be fixed without a person: the chain says something that the ledger did not ask for, or takes back what it
// called final together with a batch. Everything that can be is in test/faults.
describe("a chain", () => {
  let world: LocalWorld;
  let folder: string;
  let snapshot: unknown;
  let settlement: WorldEngine;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 1, payers: PAYERS });
  });

  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async ({ task }) => {
    snapshot = await world.rpc("evm_snapshot");
    await open(task.id);
  });

  afterEach(async () => {
    await settlement.close();
    await world.rpc("evm_setAutomine", [true]);
    await world.rpc("evm_revert", [snapshot]);
  });

  it("that has a batch under our root which we never made halts all submission", async () => {
    await world.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.listUnmined(operator());
    await world.rpc("anvil_dropTransaction", [submission?.broadcasts[0]?.txHash]);
    const tool = world.tools[0];
    // Whoever has the operator's key can settle other rows under the root; the ledger must not believe them.
    const rows = encodeRows([
      { payer: world.payers[0]?.address as Address, modelCost: 0n, lines: [{ toolIndex: 0, amount: 7n }] },
    ]);
    const router = world.router.connect(world.parties.operator);
    const sent = await router.settle(NO_BATCH, submission?.id ?? id("none"), [tool?.toolId ?? "0x"], rows, {
      gasPrice: 10n ** 12n,
      gasLimit: 1_000_000n,
      nonce: submission?.nonce ?? 0,
    });
    await world.rpc("anvil_mine", ["0x4"]);
    await mined(sent);
    await world.rpc("evm_setAutomine", [true]);
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect((await settlement.ledger.readHalt())?.reason).toMatch(/which has other rows in the ledger$/);
    expect(await settlement.ledger.readTotals()).toMatchObject({ pending: DUE, settled: 0n });
  });

  it("that undoes a batch which it called final halts all submission", async () => {
    await settlement.settleAll();
    await world.rpc("anvil_mine", ["0x4"]);
    await settlement.engine.tick();
    // Back to before the batch, which is not there any more.
    const head = BigInt(await world.provider.getBlockNumber());
    const { inclusion } = (await settlement.ledger.listBatches(1, 0))[0] ?? {};
    await world.rpc("anvil_reorg", [Number(head - (inclusion?.blockNumber ?? 0n)) + 1, []]);
    await settlement.engine.tick();
    expect((await settlement.ledger.readHalt())?.reason).toMatch(/was final as .* and is now/);
  });

  const operator = () => world.operators[0]?.address as Address;

  async function open(name: string) {
    settlement = await openWorldEngine(world, { ledger: join(folder, `${name}.db`) });
    await recordTurns(settlement.ledger, world, AMOUNT, settlement.clock.nowMs());
  }
});

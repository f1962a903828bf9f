import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodeRows } from "../../settlement/chain/encodeRows.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { recordTurns } from "./recordTurns.ts";
import { openTestEngine, type TestEngine } from "./testEngine.ts";

const PAYERS = 3;
const AMOUNT = microUsdc(100_000n);
const DUE = BigInt(PAYERS) * AMOUNT;

// What cannot be mended without a person: the chain says something that the ledger did not ask for, or takes back what it
// called final together with a batch. Everything that can be is in test/faults.
describe("a chain", () => {
  let chain: LocalChain;
  let folder: string;
  let snapshot: unknown;
  let settlement: TestEngine;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "settlement-"));
    chain = await startLocalChain({ tools: 1, payers: PAYERS });
  });

  afterAll(async () => {
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async ({ task }) => {
    snapshot = await chain.rpc("evm_snapshot");
    await open(task.id);
  });

  afterEach(async () => {
    await settlement.close();
    await chain.rpc("evm_setAutomine", [true]);
    await chain.rpc("evm_revert", [snapshot]);
  });

  it("that has a batch under our root which we never made halts all submission", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.openSubmissions(operator());
    await chain.rpc("anvil_dropTransaction", [submission?.broadcasts[0]?.txHash]);
    const tool = chain.tools[0];
    // Whoever has the operator's key can settle other rows under the root; the ledger must not believe them.
    const rows = encodeRows([
      { payer: chain.payers[0]?.address as Address, modelCost: 0n, lines: [{ toolIndex: 0, amount: 7n }] },
    ]);
    const router = chain.router.connect(settlement.walletOf(chain.operators[0]));
    await router.settle(submission?.id ?? id("none"), [tool?.toolId ?? "0x"], rows, {
      gasPrice: 10n ** 12n,
      gasLimit: 1_000_000n,
      nonce: submission?.nonce ?? 0,
    });
    await chain.rpc("anvil_mine", ["0x4"]);
    await chain.rpc("evm_setAutomine", [true]);
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect((await settlement.ledger.halted())?.reason).toMatch(/earned 7 on chain and 300000 in the ledger/);
    expect(await settlement.ledger.totals()).toMatchObject({ pending: DUE, settled: 0n });
  });

  it("that undoes a batch which it called final halts all submission", async () => {
    await settlement.settleAll();
    await chain.rpc("anvil_mine", ["0x4"]);
    await settlement.engine.tick();
    // Back to before the batch, which is not there any more.
    const head = BigInt(await chain.provider.getBlockNumber());
    const { inclusion } = (await settlement.ledger.batches(1, 0))[0] ?? {};
    await chain.rpc("anvil_reorg", [Number(head - (inclusion?.blockNumber ?? 0n)) + 1, []]);
    await settlement.engine.tick();
    expect((await settlement.ledger.halted())?.reason).toMatch(/was final as .* and is now/);
  });

  const operator = () => chain.operators[0]?.address as Address;

  async function open(name: string) {
    settlement = await openTestEngine(chain, { ledger: join(folder, `${name}.db`) });
    await recordTurns(settlement.ledger, chain, AMOUNT, settlement.clock.nowMs());
  }
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { id } from "ethers";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodeRows } from "../../settlement/chain/encodeRows.ts";
import { NO_HASH } from "../../settlement/domain/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { Policy } from "../../settlement/engine/context.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";
import { openTestEngine, type TestEngine } from "./testEngine.ts";

const PAYERS = 3;
const AMOUNT = microUsdc(100_000n);
const DUE = BigInt(PAYERS) * AMOUNT;
const MINUTE_MS = 60_000;

// Every test begins with three delivered turns of three payers on one tool and ends with all of them settled once.
describe("a fault of the chain", () => {
  let chain: LocalChain;
  let folder: string;
  let snapshot: unknown;
  let settlement: TestEngine;
  let routerBefore: bigint;

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

  it("that takes a mined batch out again leaves it settled once", async () => {
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect(kinds()).toContain("included");
    // The transaction is gone from the chain and from the pool.
    await chain.rpc("anvil_reorg", [1, []]);
    await settlement.engine.tick();
    expect(kinds()).toContain("lost");
    await settledOnce();
  });

  it("that drops the transaction from the pool makes the engine send the same bytes again", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.openSubmissions(operator());
    await chain.rpc("anvil_dropTransaction", [submission?.broadcasts[0]?.txHash]);
    settlement.clock.advance(11_000);
    await settlement.engine.tick();
    const [resent] = await settlement.ledger.openSubmissions(operator());
    expect(resent?.broadcasts).toHaveLength(1);
    await chain.rpc("evm_setAutomine", [true]);
    await settledOnce();
  });

  it("of fees above the ceiling makes the engine wait, and uses up no attempt", async () => {
    await reopen({ maxFeePerGasCeiling: 1n });
    await settlement.engine.tick();
    expect(settlement.events).toContainEqual(
      expect.objectContaining({ kind: "holding", reason: expect.stringContaining("ceiling") }),
    );
    await reopen({});
    await settledOnce();
    await noAttemptUsed();
  });

  it("that pauses USDC holds everything, and uses up no attempt", async () => {
    await chain.usdc.pause();
    await settlement.engine.tick();
    expect(settlement.events).toContainEqual(expect.objectContaining({ kind: "holding", reason: "USDC is paused" }));
    expect(kinds()).not.toContain("sent");
    await chain.usdc.unpause();
    await settledOnce();
    await noAttemptUsed();
  });

  it("that pauses USDC after the send reverts the batch, which is settled afterwards", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    await chain.usdc.pause({ gasPrice: 10n ** 12n });
    await chain.rpc("anvil_mine", ["0x1"]);
    await chain.rpc("evm_setAutomine", [true]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.openSubmissions(operator());
    expect(submission?.state.kind).toBe("reverted");
    await chain.usdc.unpause();
    await settledOnce();
    expect(kinds()).toContain("released");
    await noAttemptUsed();
  });

  it("that pauses the router holds everything, and uses up no attempt", async () => {
    await chain.router.connect(chain.parties.guardian).pause();
    await settlement.engine.tick();
    expect(settlement.events).toContainEqual(
      expect.objectContaining({ kind: "holding", reason: "the router is paused" }),
    );
    await chain.router.connect(chain.parties.guardian).unpause();
    await settledOnce();
    await noAttemptUsed();
  });

  it("of an operator without ETH keeps the nonce and goes on when it is funded", async () => {
    const balance = await chain.provider.getBalance(operator());
    await chain.rpc("anvil_setBalance", [operator(), "0x0"]);
    for (let round = 0; round < 3; round++) {
      await settlement.engine.tick();
      settlement.clock.advance(MINUTE_MS);
    }
    // Whoever cannot pay the first offer does not outbid it.
    const [submission] = await settlement.ledger.openSubmissions(operator());
    expect(submission?.broadcasts).toHaveLength(1);
    expect(settlement.events).toContainEqual(
      expect.objectContaining({ kind: "holding", reason: expect.stringContaining("out of ETH") }),
    );
    await chain.rpc("anvil_setBalance", [operator(), `0x${balance.toString(16)}`]);
    settlement.clock.advance(MINUTE_MS);
    await settledOnce();
    await noAttemptUsed();
  });

  it("of an operator's key that was used elsewhere is noticed, and the batch is settled once on another nonce", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.openSubmissions(operator());
    await chain.rpc("anvil_dropTransaction", [submission?.broadcasts[0]?.txHash]);
    const wallet = settlement.walletOf(chain.operators[0]);
    await wallet.sendTransaction({ to: wallet.address, nonce: submission?.nonce ?? 0, gasPrice: 10n ** 12n });
    await chain.rpc("anvil_mine", ["0x4"]);
    await chain.rpc("evm_setAutomine", [true]);
    await settlement.engine.tick();
    expect(kinds()).toContain("key_used_elsewhere");
    await settledOnce();
    await noAttemptUsed();
  });

  it("of a peer who settled the same batch first counts as success", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const [submission] = await settlement.ledger.openSubmissions(operator());
    await chain.rpc("anvil_dropTransaction", [submission?.broadcasts[0]?.txHash]);
    const wallet = settlement.walletOf(chain.operators[0]);
    // The same calldata in another transaction, one that the ledger has never seen.
    await wallet.sendTransaction({
      to: submission?.to ?? null,
      data: submission?.calldata ?? null,
      nonce: submission?.nonce ?? 0,
      gasLimit: 5_000_000n,
      gasPrice: 10n ** 12n,
    });
    await chain.rpc("anvil_mine", ["0x1"]);
    await chain.rpc("evm_setAutomine", [true]);
    await settledOnce();
  });

  it("of one payer who revokes at the last moment fails only that payer's row, which is settled later", async () => {
    const [payer] = chain.payers;
    await chain.rpc("evm_setAutomine", [false]);
    await settlement.engine.tick();
    const usdc = chain.usdc.connect(settlement.walletOf(payer));
    await usdc.approve(chain.router, 0n, { gasPrice: 10n ** 12n });
    await chain.rpc("anvil_mine", ["0x4"]);
    await chain.rpc("evm_setAutomine", [true]);
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect(await settlement.ledger.totals()).toMatchObject({ pending: AMOUNT, settled: DUE - AMOUNT });
    await usdc.approve(chain.router, 10n ** 12n);
    await settledOnce();
  });

  it("of a batch under our root that we never made halts all submission", async () => {
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

  it("that undoes what it called final halts all submission", async () => {
    await settledOnce();
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
  const kinds = () => settlement.events.map(({ kind }) => kind);

  async function open(name: string, policy: Partial<Policy> = {}) {
    const path = join(folder, `${name}.db`);
    settlement = await openTestEngine(chain, { ledger: path, policy });
    current = path;
    routerBefore = await chain.usdc.balanceOf(chain.router);
    for (const [i, { address }] of chain.payers.entries()) {
      const toolId = chain.tools[0]?.toolId;
      if (!toolId) throw new RangeError("no such tool");
      await settlement.engine.recordTurn({
        id: `turn-${i}`,
        payer: address,
        outcome: "delivered",
        modelCost: microUsdc(0n),
        tools: [{ toolId, amount: AMOUNT, calls: 1 }],
        requestHash: NO_HASH,
        responseHash: NO_HASH,
      });
    }
  }

  let current: string;

  async function reopen(policy: Partial<Policy>) {
    await settlement.close();
    settlement = await openTestEngine(chain, { ledger: current, policy });
  }

  async function settledOnce() {
    await settlement.settleAll();
    expect(await settlement.ledger.totals()).toMatchObject({ accrued: DUE, settled: DUE, absorbed: 0n, refused: 0n });
    expect((await chain.usdc.balanceOf(chain.router)) - routerBefore).toBe(DUE);
  }

  async function noAttemptUsed() {
    for (let i = 0; i < PAYERS; i++) {
      for (const charge of await settlement.ledger.chargesOf({ turnId: `turn-${i}` })) expect(charge.attempts).toBe(0);
    }
  }
});

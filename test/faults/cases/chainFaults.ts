import assert from "node:assert/strict";
import type { Hex } from "viem";
import { until } from "../../../scripts/waiting/until.ts";
import { settleCommand } from "../../local/daemon/testDaemon.ts";
import { hexOf } from "../stage/sequencer.ts";
import { type Stage, TURN_CHARGES } from "../stage/stage.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";

// Before everything else in its block.
export const FIRST = { gasPrice: 10n ** 12n };

const MANY_LOOKS = 8;

// A batch in the mempool of a chain that makes no blocks.
export async function submitStalled(stage: Stage, payers?: number) {
  await stage.sequencer.stall();
  await stage.start();
  await stage.recordTurns(payers);
  await until("the send", () => stage.outcomes().length > 0);
  return stage.submitted();
}

const stateBecomes = (stage: Stage, batchId: Hex, state: string) =>
  until(`the batch to be ${state}`, async () => (await stage.batch(batchId)).state === state);

export const mempoolHas = (stage: Stage, transactions: number) =>
  until(`${transactions} transactions in the mempool`, async () => {
    const { pending } = (await stage.world.rpc("txpool_status")) as { pending: string };
    return Number(pending) === transactions;
  });

// Every tick begins with the question for the newest final block.
async function severalTicks({ endpoint }: Stage): Promise<void> {
  const ticks = () => endpoint.asked.filter(({ params }) => params[0] === "finalized").length;
  const before = ticks();
  await until("several ticks", () => ticks() > before + MANY_LOOKS);
}

const cases: FaultCase[] = [
  {
    number: 19,
    fault: "A shallow reorg: the transaction is gone",
    injected: "`anvil_reorg` takes out the block of the batch, which is then in no block and in no mempool",
    claim: "a batch that a reorg took out is submitted again, the same batch, and settles once",
    async run(stage) {
      const { batchId } = await submitStalled(stage);
      await stage.sequencer.mine();
      await stateBecomes(stage, batchId, "included");
      await stage.sequencer.reorg(1);
      await until("the loss to be noticed", () => stage.daemon.events("lost").length === 1);
      stage.sequencer.resume();
      await stage.settled();
      assert.deepEqual(
        (await stage.batches()).map(({ batchId }) => batchId),
        [batchId],
      );
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return { happened: "included, lost, submitted and final: one batch throughout, no attempt used up", balances };
    },
  },
  {
    number: 20,
    fault: "A reorg below `finalized`",
    injected: "`anvil_reorg` eight blocks deep, where the chain calls everything final that is two deep",
    claim: "a chain that undoes what it called final halts all submission until a person has looked",
    async run(stage) {
      await stage.start();
      await stage.recordTurns();
      await stage.settled();
      await stage.sequencer.stall();
      await stage.sequencer.mine(12);
      await severalTicks(stage);
      await stage.sequencer.reorg(8);
      const [message = ""] = await until("the alert", () => nonEmpty(stage.daemon.alerts("halted")));
      assert.match(message, /^Block \d+ was final as 0x[0-9a-f]{64} and is now 0x[0-9a-f]{64}\.$/);
      stage.sequencer.resume();
      const sends = stage.outcomes().length;
      await stage.recordTurns();
      const { components } = await until("it to say so", async () => {
        const report = await stage.ready();
        return report.ready ? null : report;
      });
      assert.match(components.settlement?.reason ?? "", /^halted: block/);
      assert.equal(await stage.metric("settlement_drift"), 1);
      assert.equal(stage.outcomes().length, sends, "nothing is sent while it is halted");
      await stage.balances({ pending: 12 * TURN_CHARGES });
      const resumed = await settleCommand(["reconcile", "--resume"], await stage.environment());
      assert.match(resumed.stdout, /the halt is lifted/);
      await stage.settled();
      const balances = await stage.balances();
      return {
        happened: "alert `halted`, not ready, accruals still taken; settled after `reconcile --resume`",
        balances,
      };
    },
  },
  {
    number: 21,
    fault: "A success is mined again as a revert",
    injected: "`anvil_reorg` takes the batch out, and USDC is paused in the block in which it comes back",
    claim: "a success that became a revert charges nobody, and its charges are settled later, once",
    async run(stage) {
      const { batchId } = await submitStalled(stage);
      await stage.sequencer.mine();
      await stateBecomes(stage, batchId, "included");
      await stage.sequencer.reorg(1);
      await until("the loss to be noticed", () => stage.daemon.events("lost").length === 1);
      await stage.world.usdc.pause(FIRST);
      await mempoolHas(stage, 2);
      await stage.sequencer.mine();
      await stateBecomes(stage, batchId, "reverted");
      await stage.world.usdc.unpause();
      stage.sequencer.resume();
      await stage.settled();
      assert.equal(stage.daemon.events("abandoned").length, 1);
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return { happened: "included, lost, reverted, abandoned when the revert was final, and settled again", balances };
    },
  },
  {
    number: 22,
    fault: "A revert is mined again as a success",
    injected: "USDC is paused in the block of the batch, and `anvil_reorg` takes that block out again",
    claim: "charges do not come back from a revert that is not final, so that they are not settled twice",
    async run(stage) {
      const { batchId } = await submitStalled(stage);
      await stage.world.usdc.pause(FIRST);
      await mempoolHas(stage, 2);
      await stage.sequencer.mine();
      await stateBecomes(stage, batchId, "reverted");
      await severalTicks(stage);
      await stage.sequencer.reorg(1);
      await stateBecomes(stage, batchId, "submitted");
      stage.sequencer.resume();
      await stage.settled();
      assert.equal(stage.daemon.events("abandoned").length, 0);
      assert.equal((await stage.batches()).length, 1);
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return { happened: "reverted at the head, submitted after the reorg, final as a success", balances };
    },
  },
  {
    number: 23,
    fault: "A pre-confirmation is lost",
    injected: "the proxy answers with a receipt in the next block, which is never made; the transaction is dropped",
    claim: "a receipt of a block that is not there counts for nothing",
    async run(stage) {
      await stage.sequencer.stall();
      await stage.start();
      const head = await stage.world.provider.getBlockNumber();
      const router = await stage.world.router.getAddress();
      const lift = stage.endpoint.rule({
        method: "eth_getTransactionReceipt",
        action: { kind: "answer", result: ({ params }) => preconfirmation(stage, params[0] as Hex, router, head + 1) },
      });
      await stage.recordTurns();
      const { batchId } = await stage.submitted();
      const looks = () => stage.endpoint.asked.filter(({ method }) => method === "eth_getTransactionReceipt").length;
      await until("several looks", () => looks() > MANY_LOOKS);
      assert.equal((await stage.batch(batchId)).state, "submitted");
      for (const { hash } of stage.signed()) await stage.world.rpc("anvil_dropTransaction", [hash]);
      lift();
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return {
        happened: "the batch stays `submitted` through the pre-confirmation, and is final when it is mined",
        balances,
      };
    },
  },
  {
    number: 24,
    fault: "The sequencer stalls",
    injected: "no blocks are made while three waves of turns come in",
    claim: "while the chain stands still a backlog builds, nothing is outbid and no attempt is used up",
    async run(stage) {
      await submitStalled(stage);
      await stage.recordTurns();
      await stage.recordTurns();
      const sends = stage.outcomes().length;
      await until("the same bytes to be sent again and again", () => stage.outcomes().length > sends + 5 * MANY_LOOKS);
      const signed = stage.signed();
      const batches = (await stage.batches()).length;
      assert.equal(signed.length, batches, "no batch was signed twice");
      await stage.balances({ pending: 36 * TURN_CHARGES });
      stage.sequencer.resume();
      await stage.settled();
      const balances = await stage.balances();
      assert.equal(balances.attempts, 0);
      return {
        happened: "accruals go on, each batch is signed once; when blocks come again everything settles",
        balances,
      };
    },
  },
  {
    number: 25,
    fault: "The batch was already settled by a peer daemon",
    injected: "another operator sends the same batch and is mined first, so that the daemon's own transaction reverts",
    claim: "a batch that a peer has settled is settled",
    async run(stage) {
      const { batchId } = await submitStalled(stage);
      const [own] = stage.signed();
      await stage.peer.sendTransaction({
        to: own?.to ?? null,
        data: own?.data ?? "0x",
        gasLimit: 5_000_000n,
        ...FIRST,
      });
      await mempoolHas(stage, 2);
      stage.sequencer.resume();
      await stage.settled();
      const receipt = await stage.world.provider.getTransactionReceipt(own?.hash ?? "0x");
      assert.equal(receipt?.status, 0);
      assert.notEqual((await stage.batch(batchId)).txHash, own?.hash);
      assert.equal(stage.daemon.events("abandoned").length, 0);
      const balances = await stage.balances();
      assert.deepEqual([balances.attempts, balances.transactions], [0, 1]);
      return {
        happened: "the daemon's own transaction reverts, the peer's is found by the root and becomes final",
        balances,
      };
    },
  },
];

export const chainFaults: FaultGroup = { name: "Chain", cases };

const nonEmpty = <T>(list: readonly T[]) => (list.length > 0 ? list : null);

// What a node says of a transaction that the sequencer has promised to put into the next block, with the log of its batch.
function preconfirmation(stage: Stage, transactionHash: Hex, router: string, block: number) {
  const batchId = stage
    .signed()
    .find(({ hash }) => hash === transactionHash)
    ?.data.slice(74, 138);
  const { interface: abi } = stage.world.router;
  const place = {
    transactionHash,
    transactionIndex: "0x0",
    blockNumber: hexOf(block),
    blockHash: `0x${"2".repeat(64)}`,
  };
  const settled = abi.encodeEventLog("BatchSettled", [
    `0x${batchId}`,
    `0x${"0".repeat(64)}`,
    stage.operator.address,
    0n,
    0n,
  ]);
  return {
    ...place,
    from: stage.operator.address,
    to: router,
    cumulativeGasUsed: "0x5208",
    gasUsed: "0x5208",
    effectiveGasPrice: "0x1",
    contractAddress: null,
    logs: [{ ...place, ...settled, address: router, logIndex: "0x0", removed: false }],
    logsBloom: `0x${"0".repeat(512)}`,
    status: "0x1",
    type: "0x2",
  };
}

import assert from "node:assert/strict";
import type { Hex } from "viem";
import { settleCommand } from "../local/testDaemon.ts";
import type { FaultCase, FaultGroup } from "./faultCase.ts";
import { hexOf } from "./sequencer.ts";
import { until } from "./until.ts";
import { TURN_CHARGES, type World } from "./world.ts";

// Before everything else in its block.
export const FIRST = { gasPrice: 10n ** 12n };

const MANY_LOOKS = 8;

// A batch in the pool of a chain that makes no blocks.
export async function submitStalled(world: World, payers?: number) {
  await world.sequencer.stall();
  await world.start();
  await world.recordTurns(payers);
  await until("the send", () => world.outcomes().length > 0);
  return world.submitted();
}

const stateBecomes = (world: World, root: Hex, state: string) =>
  until(`the batch to be ${state}`, async () => (await world.batch(root)).state === state);

export const poolHas = (world: World, transactions: number) =>
  until(`${transactions} transactions in the pool`, async () => {
    const { pending } = (await world.chain.rpc("txpool_status")) as { pending: string };
    return Number(pending) === transactions;
  });

// Every round begins with the question for the newest final block.
async function severalRounds({ endpoint }: World): Promise<void> {
  const rounds = () => endpoint.asked.filter(({ params }) => params[0] === "finalized").length;
  const before = rounds();
  await until("several rounds", () => rounds() > before + MANY_LOOKS);
}

const cases: FaultCase[] = [
  {
    number: 19,
    fault: "A shallow reorganisation: the transaction is gone",
    injected: "`anvil_reorg` takes out the block of the batch, which is then in no block and in no pool",
    claim: "a batch that a reorganisation took out is submitted again, the same batch, and settles once",
    async run(world) {
      const { batch } = await submitStalled(world);
      await world.sequencer.mine();
      await stateBecomes(world, batch, "included");
      await world.sequencer.reorg(1);
      await until("the loss to be noticed", () => world.daemon.events("lost").length === 1);
      world.sequencer.resume();
      await world.settled();
      assert.deepEqual(
        (await world.batches()).map(({ batch: root }) => root),
        [batch],
      );
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return { happened: "included, lost, submitted and final: one batch throughout, no attempt used up", books };
    },
  },
  {
    number: 20,
    fault: "A reorganisation below `finalized`",
    injected: "`anvil_reorg` eight blocks deep, where the chain calls everything final that is two deep",
    claim: "a chain that undoes what it called final halts all submission until a person has looked",
    async run(world) {
      await world.start();
      await world.recordTurns();
      await world.settled();
      await world.sequencer.stall();
      await world.sequencer.mine(12);
      await severalRounds(world);
      await world.sequencer.reorg(8);
      const [message = ""] = await until("the alert", () => nonEmpty(world.daemon.alerts("halted")));
      assert.match(message, /^block \d+ was final as 0x[0-9a-f]{64} and is now 0x[0-9a-f]{64}$/);
      world.sequencer.resume();
      const sends = world.outcomes().length;
      await world.recordTurns();
      const { components } = await until("it to say so", async () => {
        const report = await world.ready();
        return report.ready ? null : report;
      });
      assert.match(components.settlement?.reason ?? "", /^halted: block/);
      assert.equal(await world.metric("settlement_drift"), 1);
      assert.equal(world.outcomes().length, sends, "nothing is sent while it is halted");
      await world.books({ pending: 12 * TURN_CHARGES });
      const resumed = await settleCommand(["reconcile", "--resume"], await world.environment());
      assert.match(resumed.out, /the halt is lifted/);
      await world.settled();
      const books = await world.books();
      return {
        happened: "alert `halted`, not ready, accruals still taken; settled after `reconcile --resume`",
        books,
      };
    },
  },
  {
    number: 21,
    fault: "A success is mined again as a revert",
    injected: "`anvil_reorg` takes the batch out, and USDC is paused in the block in which it comes back",
    claim: "a success that became a revert charges nobody, and its charges are settled later, once",
    async run(world) {
      const { batch } = await submitStalled(world);
      await world.sequencer.mine();
      await stateBecomes(world, batch, "included");
      await world.sequencer.reorg(1);
      await until("the loss to be noticed", () => world.daemon.events("lost").length === 1);
      await world.chain.usdc.pause(FIRST);
      await poolHas(world, 2);
      await world.sequencer.mine();
      await stateBecomes(world, batch, "reverted");
      await world.chain.usdc.unpause();
      world.sequencer.resume();
      await world.settled();
      assert.equal(world.daemon.events("released").length, 1);
      const books = await world.books();
      assert.deepEqual([books.attempts, books.transactions], [0, 1]);
      return { happened: "included, lost, reverted, released when the revert was final, and settled anew", books };
    },
  },
  {
    number: 22,
    fault: "A revert is mined again as a success",
    injected: "USDC is paused in the block of the batch, and `anvil_reorg` takes that block out again",
    claim: "charges do not come back from a revert that is not final, so that they are not settled twice",
    async run(world) {
      const { batch } = await submitStalled(world);
      await world.chain.usdc.pause(FIRST);
      await poolHas(world, 2);
      await world.sequencer.mine();
      await stateBecomes(world, batch, "reverted");
      await severalRounds(world);
      await world.sequencer.reorg(1);
      await stateBecomes(world, batch, "submitted");
      world.sequencer.resume();
      await world.settled();
      assert.equal(world.daemon.events("released").length, 0);
      assert.equal((await world.batches()).length, 1);
      const books = await world.books();
      assert.deepEqual([books.attempts, books.transactions], [0, 1]);
      return { happened: "reverted at the head, submitted after the reorganisation, final as a success", books };
    },
  },
  {
    number: 23,
    fault: "A pre-confirmation is lost",
    injected: "the proxy answers with a receipt in the next block, which is never made; the transaction is dropped",
    claim: "a receipt of a block that is not there counts for nothing",
    async run(world) {
      await world.sequencer.stall();
      await world.start();
      const head = await world.chain.provider.getBlockNumber();
      const router = await world.chain.router.getAddress();
      const lift = world.endpoint.rule({
        method: "eth_getTransactionReceipt",
        action: { kind: "answer", result: ({ params }) => preconfirmation(world, params[0] as Hex, router, head + 1) },
      });
      await world.recordTurns();
      const { batch } = await world.submitted();
      const looks = () => world.endpoint.asked.filter(({ method }) => method === "eth_getTransactionReceipt").length;
      await until("several looks", () => looks() > MANY_LOOKS);
      assert.equal((await world.batch(batch)).state, "submitted");
      for (const { hash } of world.signed()) await world.chain.rpc("anvil_dropTransaction", [hash]);
      lift();
      world.sequencer.resume();
      await world.settled();
      const books = await world.books();
      assert.deepEqual([books.attempts, books.transactions], [0, 1]);
      return {
        happened: "the batch stays `submitted` through the pre-confirmation, and is final when it is mined",
        books,
      };
    },
  },
  {
    number: 24,
    fault: "The sequencer stalls",
    injected: "no blocks are made while three waves of turns come in",
    claim: "while the chain stands still a backlog builds, nothing is outbid and no attempt is used up",
    async run(world) {
      await submitStalled(world);
      await world.recordTurns();
      await world.recordTurns();
      const sends = world.outcomes().length;
      await until("the same bytes to be sent again and again", () => world.outcomes().length > sends + 5 * MANY_LOOKS);
      const signed = world.signed();
      const batches = (await world.batches()).length;
      assert.equal(signed.length, batches, "no batch was signed twice");
      await world.books({ pending: 36 * TURN_CHARGES });
      world.sequencer.resume();
      await world.settled();
      const books = await world.books();
      assert.equal(books.attempts, 0);
      return {
        happened: "accruals go on, each batch is signed once; when blocks come again everything settles",
        books,
      };
    },
  },
  {
    number: 25,
    fault: "The batch was already settled by a peer daemon",
    injected: "another operator sends the same batch and is mined first, so that the daemon's own transaction reverts",
    claim: "a batch that a peer has settled is settled",
    async run(world) {
      const { batch } = await submitStalled(world);
      const [own] = world.signed();
      await world
        .walletOf(world.peer)
        .sendTransaction({ to: own?.to ?? null, data: own?.data ?? "0x", gasLimit: 5_000_000n, ...FIRST });
      await poolHas(world, 2);
      world.sequencer.resume();
      await world.settled();
      const receipt = await world.chain.provider.getTransactionReceipt(own?.hash ?? "0x");
      assert.equal(receipt?.status, 0);
      assert.notEqual((await world.batch(batch)).txHash, own?.hash);
      assert.equal(world.daemon.events("released").length, 0);
      const books = await world.books();
      assert.deepEqual([books.attempts, books.transactions], [0, 1]);
      return {
        happened: "the daemon's own transaction reverts, the peer's is found by the root and becomes final",
        books,
      };
    },
  },
];

export const chainFaults: FaultGroup = { name: "Chain", cases };

const nonEmpty = <T>(list: readonly T[]) => (list.length > 0 ? list : null);

// What a node says of a transaction that the sequencer has promised to put into the next block, with the log of its batch.
function preconfirmation(world: World, transactionHash: Hex, router: string, block: number) {
  const root = world
    .signed()
    .find(({ hash }) => hash === transactionHash)
    ?.data.slice(10, 74);
  const { interface: abi } = world.chain.router;
  const place = {
    transactionHash,
    transactionIndex: "0x0",
    blockNumber: hexOf(block),
    blockHash: `0x${"2".repeat(64)}`,
  };
  const settled = abi.encodeEventLog("BatchSettled", [`0x${root}`, world.operator.address, 0n, 0n]);
  return {
    ...place,
    from: world.operator.address,
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

import type { Address, Hex } from "viem";
import { createFaults, type Faults } from "../faults/faults.ts";
import { createRng, type Rng } from "../rng.ts";
import { type Block, createBlocks, type Genesis, nonceOf } from "./blocks.ts";
import { createNodes } from "./nodes.ts";
import { payersOf } from "./runTransaction.ts";
import type { Transaction } from "./transaction.ts";

export type SimulatedChain = ReturnType<typeof createSimulatedChain>;

export type SimulatedChainOptions = Genesis & {
  insurance: Address;
  maxRows: number;
  endpoints: number;
  // Decides what one of the endpoints makes up; null where none does.
  lies: Rng | null;
  // Decides which of them are always some blocks behind; null where none is.
  lags?: Rng | null;
  // Decides which of three invents blocks while the sequencer stands still; null where none does.
  inventions?: Rng | null;
};

// A chain in memory: what it is, what its nodes say about it, and what only the invariants may ask.
export function createSimulatedChain(rng: Rng, faults: Faults, options: SimulatedChainOptions) {
  const { protocol, insurance, maxRows, endpoints, lies, lags = null, inventions = null } = options;
  const blocks = createBlocks(rng, faults, options);
  const nodesOptions = { router: protocol.router, insurance, maxRows, endpoints, lies, lags, inventions };
  const nodes = createNodes(blocks, rng, faults, nodesOptions);
  // One that never lags, forgets or lies.
  const honest = createNodes(
    blocks,
    createRng(0),
    createFaults(createRng(0), () => {}, false),
    {
      ...nodesOptions,
      endpoints: 1,
      lies: null,
      lags: null,
      inventions: null,
    },
  );
  const { connect, standStill, stall, invents, wakeUp, repair, stalls, lies: told, wasWithheld, hasMadeUp } = nodes;
  const statusIn = (block: Block | undefined, txHash: Hex) =>
    block?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt.status ?? null;
  const { produce, reorg, undo, foreign, reorgs, do: plan, pooled, drop, inject } = blocks;
  return {
    connect,
    connectHonestly: (nowMs: () => number) => honest.connect({ nowMs, elapsedMs: nowMs }),
    standStill,
    stall,
    invents,
    wakeUp,
    repair,
    stalls,
    lies: told,
    produce,
    reorg,
    undo(depth: number) {
      repair(false);
      undo(depth);
    },
    foreign,
    reorgs,
    do: plan,
    pooled,
    drop,
    inject,
    head: () => blocks.newest().head,
    finalizedNumber: () => blocks.newest().finalized,
    blockAt: (number: number) => blocks.blockAt(blocks.newest(), number),
    // What a transaction came to in a block, whether or not that block was left.
    minedAs: (txHash: Hex, blockHash: Hex) =>
      statusIn(
        blocks.withTransaction(txHash).find(({ hash }) => hash === blockHash),
        txHash,
      ),
    // What it came to for good, or null if that is not known yet.
    finalStatusOf: (txHash: Hex) => statusIn(blocks.withTransaction(txHash).find(blocks.isFinal), txHash),
    wasWithheld,
    hasMadeUp,
    // Whether one of them has a transaction in a block or in the mempool.
    hasSent: (accounts: readonly Address[]) =>
      accounts.some((account) => nonceOf(blocks.newest().head.state, account) > 0) ||
      blocks.pooled().some(({ from }) => accounts.includes(from)),
    payersOf: (transaction: Transaction) => payersOf(protocol, transaction),
  };
}

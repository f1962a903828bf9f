import type { Address, Hex } from "viem";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";
import { type Block, createBlocks, type Genesis, nonceOf } from "./blocks.ts";
import { createNodes } from "./nodes.ts";
import { payersOf } from "./runTransaction.ts";
import type { Transaction } from "./transaction.ts";

export type SimulatedChain = ReturnType<typeof createSimulatedChain>;

export type SimulatedChainOptions = Genesis & { insurance: Address; maxRows: number; endpoints: number };

// A chain in memory: what it is, what its nodes say about it, and what only the invariants may ask.
export function createSimulatedChain(rng: Rng, faults: Faults, options: SimulatedChainOptions) {
  const { protocol, insurance, maxRows, endpoints } = options;
  const blocks = createBlocks(rng, faults, options);
  const nodes = createNodes(blocks, rng, faults, { router: protocol.router, insurance, maxRows, endpoints });
  const { connect, standStill, wakeUp, repair, stalls, wasWithheld } = nodes;
  const statusIn = (block: Block | undefined, txHash: Hex) =>
    block?.transactions.find(({ transaction }) => transaction.hash === txHash)?.receipt.status ?? null;
  const { produce, reorg, foreign, reorgs, do: plan, pooled, drop, inject } = blocks;
  return {
    connect,
    standStill,
    wakeUp,
    repair,
    stalls,
    produce,
    reorg,
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
    // The roots that these accounts have settled, in blocks that may still be undone, too.
    rootsOf(operators: readonly Address[]): Hex[] {
      const roots: Hex[] = [];
      for (let block: Block | null = blocks.newest().head; block !== null; block = block.parent) {
        for (const { root, transaction } of block.transactions) {
          if (root !== null && operators.includes(transaction.from)) roots.push(root);
        }
      }
      return roots;
    },
    // Whether one of them has a transaction in a block or in the mempool.
    hasSent: (accounts: readonly Address[]) =>
      accounts.some((account) => nonceOf(blocks.newest().head.state, account) > 0) ||
      blocks.pooled().some(({ from }) => accounts.includes(from)),
    payersOf: (transaction: Transaction) => payersOf(protocol, transaction),
  };
}

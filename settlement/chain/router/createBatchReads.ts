import {
  type Address,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import type { Contest } from "../../domain/contest.ts";
import { blocksAtTimestamp } from "../blocks/blocksAtTimestamp.ts";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Block, Chain, SettledBatch, TxReceipt } from "../chain.ts";
import { createClient } from "../rpc/createClient.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import { receiptCourtAbi, routerAbi } from "./abi.ts";
import { decodeOutcome } from "./decodeOutcome.ts";

export type BatchReadsOptions = {
  endpoints: Endpoints;
  client: PublicClient;
  router: Address;
  court?: Address | null;
  // The most blocks that one search of logs may cover.
  maxLogRangeBlocks: bigint;
};

export type BatchReads = Pick<
  Chain,
  "receipt" | "calldataOf" | "receiptOfBatch" | "settledAt" | "settledBatches" | "settledAndContested"
>;

const WORD = /^0x[0-9a-f]{64}$/i;

const batchSettled = getAbiItem({ abi: routerAbi, name: "BatchSettled" });
const contested = getAbiItem({ abi: receiptCourtAbi, name: "Contested" });

// What became of transactions and batches.
export function createBatchReads(options: BatchReadsOptions): BatchReads {
  const { endpoints, client, router, court = null, maxLogRangeBlocks } = options;
  const receipt = async (txHash: Hex): Promise<TxReceipt | null> => {
    try {
      const { transactionHash, blockNumber, blockHash, status, gasUsed, logs } = await client.getTransactionReceipt({
        hash: txHash,
      });
      const batches = decodeOutcome(logs, router);
      return { txHash: transactionHash, blockNumber, blockHash, status, gasUsed, batches };
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  };

  const settledAtHead = (root: Hex) =>
    client.readContract({ address: router, abi: routerAbi, functionName: "settledAt", args: [root] });

  // Whether a root was settled by a final block decides whether its charges may be charged again under another root. So
  // every endpoint is asked, and one that has seen it is enough: a node that lags or lies can make us wait, but not make a
  // payer pay twice as long as another one answers.
  const settledByFinal = async (root: Hex, block: Block): Promise<bigint> => {
    const data = encodeFunctionData({ abi: routerAbi, functionName: "settledAt", args: [root] });
    const question = [{ to: router, data }, byHash(block)];
    const answers = await Promise.all(endpoints.askAll("eth_call", question));
    const times = answers.flatMap((answer) =>
      answer.kind === "result" && WORD.test(String(answer.result)) ? [BigInt(String(answer.result))] : [],
    );
    // If nobody answers at once, the read tries again and says what is wrong.
    if (times.length === 0) return BigInt((await endpoints.read("eth_call", question)) as Hex);
    return times.find((time) => time !== 0n) ?? 0n;
  };

  return {
    receipt,

    async calldataOf(txHash) {
      try {
        const { input } = await client.getTransaction({ hash: txHash });
        return input;
      } catch (error) {
        if (error instanceof TransactionNotFoundError) return null;
        throw error;
      }
    },

    // The router knows when it settled a root, and that leads to the block without a search through all logs.
    async receiptOfBatch(root) {
      const timestamp = await settledAtHead(root);
      if (timestamp === 0n) return null;
      const [log] = await endpoints.fromOne(async (read) => {
        const one = createClient({ read });
        const [low, high] = await Promise.all([one.getBlock({ blockNumber: 0n }), one.getBlock()]);
        const blocks = await blocksAtTimestamp(timestamp, { low, high }, async (blockNumber) => {
          const block = await one.getBlock({ blockNumber });
          return block.timestamp;
        });
        if (blocks === null) return [];
        return one.getLogs({
          address: router,
          event: batchSettled,
          args: { receiptsRoot: root },
          fromBlock: blocks.first,
          toBlock: blocks.last,
        });
      });
      return log ? receipt(log.transactionHash) : null;
    },

    settledAt: (root, at) => (at === "latest" ? settledAtHead(root) : settledByFinal(root, at)),

    async settledBatches(fromBlock, toBlock) {
      const { batches } = await fromOne(fromBlock, toBlock, [router]);
      return batches;
    },

    settledAndContested: (fromBlock, toBlock) =>
      fromOne(fromBlock, toBlock, court === null ? [router] : [router, court]),
  };

  // From one endpoint, which must have the last block: one that does not has fewer logs, and does not say so.
  function fromOne(fromBlock: bigint, toBlock: bigint, contracts: readonly Address[]): Promise<Logged> {
    return endpoints.fromOne((read) => listLogged(createClient({ read }), fromBlock, toBlock, contracts));
  }

  async function listLogged(
    one: PublicClient,
    fromBlock: bigint,
    toBlock: bigint,
    contracts: readonly Address[],
  ): Promise<Logged> {
    const found: Logged = { batches: [], contests: [] };
    if (fromBlock > toBlock) return found;
    await one.getBlock({ blockNumber: toBlock });
    for (let start = fromBlock; start <= toBlock; start += maxLogRangeBlocks) {
      let end = start + maxLogRangeBlocks - 1n;
      if (end > toBlock) end = toBlock;
      const logs = await one.getLogs({
        address: [...contracts],
        events: [batchSettled, contested],
        strict: true,
        fromBlock: start,
        toBlock: end,
      });
      for (const { address, eventName, args, transactionHash, blockNumber } of logs) {
        const operator = args.operator.toLowerCase() as Address;
        // Each event is its own contract's.
        if (eventName === "BatchSettled" && isAddressEqual(address, router)) {
          found.batches.push({ root: args.receiptsRoot, operator, txHash: transactionHash, blockNumber });
        }
        if (eventName !== "Contested" || court === null || !isAddressEqual(address, court)) continue;
        found.contests.push({
          root: args.receiptsRoot,
          account: args.payer.toLowerCase() as Address,
          operator,
          contester: args.contester.toLowerCase() as Address,
          charged: args.charged,
          untilMs: Number(args.until) * 1_000,
          lines: args.lines,
          blockNumber,
        });
      }
    }
    return found;
  }
}

type Logged = { batches: SettledBatch[]; contests: Contest[] };

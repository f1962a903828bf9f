import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  type PublicClient,
  parseEventLogs,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import type { Contest } from "../../domain/batch/contest.ts";
import { blocksAtTimestamp } from "../blocks/blocksAtTimestamp.ts";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Block, Chain, SettledBatch, TxReceipt } from "../chain.ts";
import { createRpcClient } from "../rpc/createRpcClient.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import { onlyFrom } from "../rpc/onlyFrom.ts";
import { receiptCourtAbi, routerAbi } from "./abi.ts";
import { callsIn, type Frame } from "./callsIn.ts";
import { decodeOutcome } from "./decodeOutcome.ts";
import { digestOf, settleOf } from "./settleCalls.ts";

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
  "receipt" | "finalReceipt" | "calldataOf" | "receiptOfBatch" | "settledAt" | "settledBatches" | "settledAndContested"
>;

const WORD = /^0x[0-9a-f]{64}$/i;
// How long one endpoint may take to find logs beside others.
const PATIENCE_MS = 10_000;

const batchSettled = getAbiItem({ abi: routerAbi, name: "BatchSettled" });
const contested = getAbiItem({ abi: receiptCourtAbi, name: "Contested" });

// What became of transactions and batches.
export function createBatchReads(options: BatchReadsOptions): BatchReads {
  const { endpoints, client, router, court = null, maxLogRangeBlocks } = options;
  const receiptBy = async (asked: PublicClient, txHash: Hex): Promise<TxReceipt | null> => {
    try {
      const { transactionHash, blockNumber, blockHash, status, gasUsed, logs } = await asked.getTransactionReceipt({
        hash: txHash,
      });
      const batches = decodeOutcome(logs, router);
      return { txHash: transactionHash, blockNumber, blockHash, status, gasUsed, batches };
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  };

  const receipt = (txHash: Hex) => receiptBy(client, txHash);

  // A row that failed for good is charged again, under another root. So every endpoint is asked, and if one shows something else nobody
  // is believed: a node that makes failures up can make us wait, and nobody pay twice.
  const finalReceipt: BatchReads["finalReceipt"] = async (txHash) => {
    const answers = await Promise.all(endpoints.askAll("eth_getTransactionReceipt", [txHash]));
    const shown: TxReceipt[] = [];
    const denying: string[] = [];
    for (const answer of answers) {
      if (answer.kind !== "result") continue;
      const one = await receiptBy(createRpcClient({ read: async () => answer.result }), txHash);
      if (one === null) denying.push(answer.endpoint);
      else shown.push(one);
    }
    const [first, ...others] = shown;
    // If nobody shows it at once, the read tries again and says what is wrong.
    if (first === undefined) {
      const found = await receipt(txHash);
      return found === null ? null : { ...found, isAgreed: denying.length === 0 };
    }
    if (others.some((other) => saidBy(other) !== saidBy(first))) {
      return { differs: `endpoints show different receipts of ${txHash}, which is final: one of them is wrong` };
    }
    const blocks = await Promise.all(
      denying.map((name) => endpoints.askOne(name, "eth_getBlockByHash", [first.blockHash, false], PATIENCE_MS)),
    );
    // Whoever does not have the block only lags.
    return { ...first, isAgreed: !blocks.some((block) => block.kind === "result" && block.result !== null) };
  };

  const settledAtHead = (batchId: Hex) =>
    client.readContract({ address: router, abi: routerAbi, functionName: "settledAt", args: [batchId] });

  // Whether a root was settled by a final block decides whether its charges may be charged again under another root. So
  // every endpoint is asked, and one that has seen it is enough: a node that lags or lies can make us wait, but not make a
  // payer pay twice as long as another one answers.
  const settledByFinal = async (batchId: Hex, block: Block): Promise<bigint> => {
    const data = encodeFunctionData({ abi: routerAbi, functionName: "settledAt", args: [batchId] });
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
    finalReceipt,

    // Whoever has a key may settle from within a contract, with calldata that is not the transaction's. What is charged again hangs on
    // it, so that no endpoint is believed: the router keeps a digest of it, and every endpoint is asked for that.
    async calldataOf(txHash, batchId, brought) {
      const found = await findTransaction(txHash);
      if (found === null) return null;
      const { transaction, logs } = found;
      const settled = parseEventLogs({ abi: routerAbi, eventName: "BatchSettled", logs: [...logs] }).find(
        ({ address, args }) => isAddressEqual(address, router) && args.batchId === batchId,
      );
      const digests = settled === undefined ? [] : await readDigests(batchId);
      if (settled === undefined || digests.length === 0) return "hidden";
      const own = logs.filter(({ address }) => isAddressEqual(address, router));
      const isIt = (call: Hex) => {
        const digest = digestOf(settled.args.operator, call, own);
        return digest !== null && digests.every((kept) => kept === digest);
      };
      if (brought !== undefined) return isIt(brought) ? brought : "hidden";
      for await (const call of callsIn(transaction, settleOf(router, batchId), () => trace(txHash))) {
        if (isIt(call)) return call;
      }
      return "hidden";
    },

    // The router knows when it settled a root, and that leads to the block without a search through all logs.
    async receiptOfBatch(batchId) {
      const timestamp = await settledAtHead(batchId);
      if (timestamp === 0n) return null;
      const [log] = await endpoints.fromOne(async (read) => {
        const one = createRpcClient({ read });
        const [low, high] = await Promise.all([one.getBlock({ blockNumber: 0n }), one.getBlock()]);
        const blocks = await blocksAtTimestamp(timestamp, { low, high }, async (blockNumber) => {
          const block = await one.getBlock({ blockNumber });
          return block.timestamp;
        });
        if (blocks === null) return [];
        return one.getLogs({
          address: router,
          event: batchSettled,
          args: { batchId: batchId },
          fromBlock: blocks.first,
          toBlock: blocks.last,
        });
      });
      return log ? receipt(log.transactionHash) : null;
    },

    settledAt: (batchId, at) => (at === "latest" ? settledAtHead(batchId) : settledByFinal(batchId, at)),

    // What an endpoint leaves out would be settled on top of, so that one which shows it is enough.
    async settledBatches(fromBlock, toBlock) {
      const found = endpoints.names.length < 2 ? [] : await fromEach(fromBlock, toBlock);
      // If nobody answers at once, the read tries again and says what is wrong.
      const [first, ...others] = found.length > 0 ? found : [await fromOne(fromBlock, toBlock, [router])];
      const batches = [...(first?.batches ?? [])];
      for (const batch of others.flatMap((other) => other.batches)) {
        if (!batches.some(({ batchId, txHash }) => batchId === batch.batchId && txHash === batch.txHash))
          batches.push(batch);
      }
      return batches.sort((a, b) => Number(a.blockNumber - b.blockNumber));
    },

    settledAndContested: (fromBlock, toBlock) =>
      fromOne(fromBlock, toBlock, court === null ? [router] : [router, court]),
  };

  async function findTransaction(txHash: Hex) {
    try {
      const [transaction, { logs }] = await Promise.all([
        client.getTransaction({ hash: txHash }),
        client.getTransactionReceipt({ hash: txHash }),
      ]);
      return { transaction, logs };
    } catch (error) {
      if (error instanceof TransactionNotFoundError || error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  }

  // As each endpoint says that answers.
  async function readDigests(batchId: Hex): Promise<Hex[]> {
    const question = { abi: routerAbi, functionName: "batchOf" } as const;
    const data = encodeFunctionData({ ...question, args: [batchId] });
    const answers = await Promise.all(endpoints.askAll("eth_call", [{ to: router, data }, "latest"]));
    const results = answers.flatMap((answer) => (answer.kind === "result" ? [answer.result as Hex] : []));
    // If nobody answers at once, the read tries again and says what is wrong.
    if (results.length === 0) results.push((await endpoints.read("eth_call", [{ to: router, data }, "latest"])) as Hex);
    return results.map((result) => decodeFunctionResult({ ...question, data: result })[1]);
  }

  // Many providers do not trace.
  async function trace(txHash: Hex): Promise<Frame | null> {
    try {
      return (await endpoints.read("debug_traceTransaction", [txHash, { tracer: "callTracer" }])) as Frame | null;
    } catch {
      return null;
    }
  }

  // From one endpoint, which must have the last block: one that does not has fewer logs, and does not say so.
  function fromOne(fromBlock: bigint, toBlock: bigint, contracts: readonly Address[]): Promise<Logged> {
    return endpoints.fromOne((read) => listLogged(createRpcClient({ read }), fromBlock, toBlock, contracts));
  }

  // From every endpoint that has the last block.
  async function fromEach(fromBlock: bigint, toBlock: bigint): Promise<Logged[]> {
    const looked = endpoints.names.map((name) => listLogged(onlyFrom(endpoints, name), fromBlock, toBlock, [router]));
    const answers = await Promise.allSettled(looked);
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
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
          found.batches.push({ batchId: args.batchId, operator, txHash: transactionHash, blockNumber });
        }
        if (eventName !== "Contested" || court === null || !isAddressEqual(address, court)) continue;
        found.contests.push({
          batchId: args.batchId,
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

// What a receipt says that anything hangs on.
const saidBy = ({ blockHash, status, batches }: TxReceipt) =>
  JSON.stringify([blockHash, status, [...batches]], (_, value) => (typeof value === "bigint" ? `${value}` : value));

type Logged = { batches: SettledBatch[]; contests: Contest[] };

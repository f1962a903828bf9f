import {
  type Address,
  createPublicClient,
  custom,
  encodeFunctionData,
  type GetBlockReturnType,
  getAbiItem,
  type Hex,
  isAddress,
  numberToHex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { SettlementError } from "../domain/errors.ts";
import { microUsdc } from "../domain/money.ts";
import { routerAbi, stakingAbi, usdcAbi } from "./abi.ts";
import { blocksAtTimestamp } from "./blocksAtTimestamp.ts";
import type { Block, Chain, Spendable, TxReceipt } from "./chain.ts";
import { decodeOutcome } from "./decodeOutcome.ts";
import { createEndpoints, type EndpointsOptions } from "./endpoints.ts";
import { JsonRpcError } from "./jsonRpc.ts";
import { sendRaw } from "./sendRaw.ts";
import { simulate } from "./simulate.ts";

export type ChainOptions = EndpointsOptions & {
  router: Address;
  // For nodes that do not know the `finalized` tag: blocks this deep are taken for final instead.
  finalityDepthBlocks?: bigint;
  // The most gas of one transaction; EIP-7825's by default.
  maxTransactionGas?: bigint;
  // The most blocks that one search of logs may cover; providers set such limits.
  maxLogRangeBlocks?: bigint;
};

// So many payers' balances, allowances and caps stay well below the gas that providers give a read.
const PAYERS_PER_READ = 200;
// So many fit into the code of a read that brings its own multicall along, which a chain limits to 48 KiB.
const ACCOUNTS_PER_READ = 100;
const MAX_TRANSACTION_GAS = 2n ** 24n;
const MAX_LOG_RANGE_BLOCKS = 2_000n;

// Where Circle's proxy, which is older than EIP-1967, keeps its implementation, and where newer proxies do.
const IMPLEMENTATION_SLOTS: readonly Hex[] = [
  "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
];
const WORD = /^0x[0-9a-f]{64}$/i;

const batchSettled = getAbiItem({ abi: routerAbi, name: "BatchSettled" });

// The chain behind a set of RPC endpoints. It is refused unless the router is there and answers.
export async function createChain(options: ChainOptions): Promise<Chain> {
  const { chainId, router, finalityDepthBlocks } = options;
  const { maxTransactionGas = MAX_TRANSACTION_GAS, maxLogRangeBlocks = MAX_LOG_RANGE_BLOCKS } = options;
  if (!isAddress(router)) {
    throw new SettlementError("invalid_config", `the router's address ${router} is not an address`);
  }
  const endpoints = createEndpoints(options);
  const client = createPublicClient({
    // The endpoints retry by themselves, and nothing is kept: an old block number is a wrong one.
    transport: custom({ request: ({ method, params }) => endpoints.read(method, params ?? []) }, { retryCount: 0 }),
    cacheTime: 0,
  });
  const { insurance, usdc } = await answered(() => verify(client, chainId, router));

  const finalizedBlock = async () => {
    if (finalityDepthBlocks === undefined) return { blockTag: "finalized" } as const;
    const head = await client.getBlockNumber();
    return { blockNumber: head > finalityDepthBlocks ? head - finalityDepthBlocks : 0n };
  };
  const blockOf = (at: "latest" | bigint) =>
    at === "latest" ? ({ blockTag: "latest" } as const) : { blockNumber: at };

  const receipt = async (txHash: Hex): Promise<TxReceipt | null> => {
    try {
      return receiptOf(await client.getTransactionReceipt({ hash: txHash }), router);
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  };

  const settledAt = (root: Hex, at: "latest" | bigint) =>
    client.readContract({
      address: router,
      abi: routerAbi,
      functionName: "settledAt",
      args: [root],
      ...blockOf(at),
    });

  // Whether a root was settled by a final block decides whether its charges may be charged again under another root. So
  // every endpoint is asked, and one that has seen it is enough: a node that lags or lies can make us wait, but not make a
  // payer pay twice as long as another one answers.
  const settledByFinal = async (root: Hex, block: bigint): Promise<bigint> => {
    const data = encodeFunctionData({ abi: routerAbi, functionName: "settledAt", args: [root] });
    const answers = await Promise.all(endpoints.askAll("eth_call", [{ to: router, data }, numberToHex(block)]));
    const times = answers.flatMap((answer) =>
      answer.kind === "result" && WORD.test(String(answer.result)) ? [BigInt(String(answer.result))] : [],
    );
    // If nobody answers at once, the read tries again and says what is wrong.
    return times.length === 0 ? settledAt(root, block) : (times.find((time) => time !== 0n) ?? 0n);
  };

  // The router knows when it settled a root, and that leads to the block without a search through all logs.
  const receiptOfBatch = async (root: Hex): Promise<TxReceipt | null> => {
    const timestamp = await settledAt(root, "latest");
    if (timestamp === 0n) return null;
    const [low, high] = await Promise.all([client.getBlock({ blockNumber: 0n }), client.getBlock()]);
    const blocks = await blocksAtTimestamp(timestamp, { low, high }, async (blockNumber) => {
      const block = await client.getBlock({ blockNumber });
      return block.timestamp;
    });
    if (blocks === null) return null;
    const [log] = await client.getLogs({
      address: router,
      event: batchSettled,
      args: { receiptsRoot: root },
      fromBlock: blocks.first,
      toBlock: blocks.last,
    });
    return log ? receipt(log.transactionHash) : null;
  };

  return {
    chainId,
    router,
    insurance,

    head: () =>
      answered(async () => {
        const block = await client.getBlock();
        const { baseFeePerGas, gasLimit } = block;
        return { ...datedOf(block), baseFeePerGas: baseFeePerGas ?? 0n, maxGas: smaller(gasLimit, maxTransactionGas) };
      }),

    finalized: () =>
      answered(async () => {
        const at = await finalizedBlock();
        try {
          return datedOf(await client.getBlock(at));
        } catch (error) {
          if (finalityDepthBlocks !== undefined || settlementErrorIn(error)) throw error;
          throw new SettlementError(
            "chain_unavailable",
            "the endpoints do not say which block is final; use one that knows the `finalized` tag, " +
              "or set a depth from which blocks are taken for final",
            { retryable: true, cause: error },
          );
        }
      }),

    blockHash: (number) =>
      answered(async () => {
        const block = await client.request({
          method: "eth_getBlockByNumber",
          params: [`0x${number.toString(16)}`, false],
        });
        return block?.hash ?? null;
      }),

    receipt: (txHash) => answered(() => receipt(txHash)),

    receiptOfBatch: (root) => answered(() => receiptOfBatch(root)),

    nonce: (account, at) => answered(() => client.getTransactionCount({ address: account, ...blockOf(at) })),

    settledAt: (root, at) => answered(() => (at === "latest" ? settledAt(root, at) : settledByFinal(root, at))),

    availability: () =>
      answered(async () => {
        const [routerPaused, tokenPaused, barred] = await Promise.all([
          client.readContract({ address: router, abi: routerAbi, functionName: "paused" }),
          client.readContract({ address: usdc, abi: usdcAbi, functionName: "paused" }),
          client.readContract({ address: usdc, abi: usdcAbi, functionName: "isBlacklisted", args: [router] }),
        ]);
        if (tokenPaused) return { kind: "unavailable", reason: "USDC is paused" };
        if (barred) return { kind: "unavailable", reason: "USDC has blacklisted the router" };
        if (routerPaused) return { kind: "unavailable", reason: "the router is paused" };
        return { kind: "available" };
      }),

    tokenImplementation: () =>
      answered(async () => {
        for (const slot of IMPLEMENTATION_SLOTS) {
          const word = BigInt((await client.getStorageAt({ address: usdc, slot })) ?? 0);
          if (word !== 0n) return numberToHex(word, { size: 20 });
        }
        return null;
      }),

    balance: (account) => answered(() => client.getBalance({ address: account })),

    priorityFee: () => answered(() => client.estimateMaxPriorityFeePerGas()),

    simulate: (call) => answered(() => simulate(endpoints, call, maxTransactionGas)),

    spendable: (payers) =>
      answered(async () => {
        const results: Spendable[] = [];
        for (const some of chunksOf(payers, PAYERS_PER_READ)) {
          const read = await client.readContract({
            address: router,
            abi: routerAbi,
            functionName: "spendableMany",
            args: [some],
          });
          for (const [i, payer] of some.entries()) results.push(spendableOf(payer, read[i]));
        }
        return results;
      }),

    credits: (accounts) =>
      answered(async () => {
        const results: bigint[] = [];
        for (const some of chunksOf(accounts, ACCOUNTS_PER_READ)) {
          const read = await client.multicall({
            contracts: some.map(
              (account) => ({ address: router, abi: routerAbi, functionName: "creditOf", args: [account] }) as const,
            ),
            allowFailure: false,
            // One read whatever the size, and no need for a multicall contract on the chain.
            batchSize: 0,
            deployless: true,
          });
          results.push(...read);
        }
        return results.map(microUsdc);
      }),

    send: (raw) => sendRaw(endpoints, raw),

    settledBatches: (fromBlock, toBlock) =>
      answered(async () => {
        const found: { root: Hex; txHash: Hex; blockNumber: bigint }[] = [];
        for (let start = fromBlock; start <= toBlock; start += maxLogRangeBlocks) {
          let end = start + maxLogRangeBlocks - 1n;
          if (end > toBlock) end = toBlock;
          const logs = await client.getLogs({
            address: router,
            event: batchSettled,
            strict: true,
            fromBlock: start,
            toBlock: end,
          });
          for (const { args, transactionHash, blockNumber } of logs) {
            found.push({ root: args.receiptsRoot, txHash: transactionHash, blockNumber });
          }
        }
        return found;
      }),
  };
}

// Reads what the service relies on, so that a wrong address fails here and not with the first batch.
async function verify(
  client: PublicClient,
  chainId: number,
  router: Address,
): Promise<{ insurance: Address; usdc: Address }> {
  const code = await client.getCode({ address: router });
  if (code === undefined) {
    throw new SettlementError("chain_mismatch", `there is no contract at ${router} on chain ${chainId}`);
  }
  try {
    const [staking, usdc] = await Promise.all([
      client.readContract({ address: router, abi: routerAbi, functionName: "staking" }),
      client.readContract({ address: router, abi: routerAbi, functionName: "usdc" }),
    ]);
    const insurance = await client.readContract({ address: staking, abi: stakingAbi, functionName: "insurance" });
    return { insurance, usdc };
  } catch (error) {
    if (settlementErrorIn(error)) throw error;
    throw new SettlementError(
      "invalid_config",
      `the contract at ${router} on chain ${chainId} is not a ContextRouter: it does not name its token, its stake ` +
        "registry and its insurance account",
      { cause: error },
    );
  }
}

// What comes out of a question is an answer or a SettlementError: none of viem's errors reaches the engine as it is.
async function answered<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw (
      settlementErrorIn(error) ??
      new SettlementError("chain_unavailable", `the chain gave no usable answer: ${summaryOf(error)}`, {
        retryable: true,
        cause: error,
      })
    );
  }
}

// The bound of a walk along causes, which could be a circle.
const MAX_CAUSES = 16;

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  let cause = error;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(cause);
    cause = cause.cause;
  }
  return causes;
}

function settlementErrorIn(error: unknown): SettlementError | undefined {
  return causesOf(error).find((cause) => cause instanceof SettlementError);
}

function summaryOf(error: unknown): string {
  const rpcError = causesOf(error).find((cause) => cause instanceof JsonRpcError);
  if (rpcError) return rpcError.message;
  if (!(error instanceof Error)) return String(error);
  return "shortMessage" in error ? String(error.shortMessage) : error.message;
}

function receiptOf(receipt: TransactionReceipt, router: Address): TxReceipt {
  return {
    txHash: receipt.transactionHash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    status: receipt.status,
    gasUsed: receipt.gasUsed,
    batches: decodeOutcome(receipt.logs, router),
  };
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

function datedOf(block: GetBlockReturnType): Block {
  return { number: block.number, hash: block.hash, timestampMs: Number(block.timestamp) * 1_000 };
}

type SpendableRead = { amount: bigint; balance: bigint; allowance: bigint; dailyCapLeft: bigint };

function spendableOf(payer: Address, read: SpendableRead | undefined): Spendable {
  if (read === undefined) throw new RangeError(`the router left out ${payer}`);
  const { amount, balance, allowance, dailyCapLeft } = read;
  return { payer, amount: microUsdc(amount), balance: microUsdc(balance), allowance, dailyCapLeft };
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

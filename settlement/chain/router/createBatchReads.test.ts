import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, type PublicClient } from "viem";
import { describe, expect, it } from "vitest";
import { createRpcClient } from "../rpc/createRpcClient.ts";
import type { Answer, Endpoints } from "../rpc/endpoints.ts";
import { routerAbi } from "./abi.ts";
import { createBatchReads } from "./createBatchReads.ts";
import { encodeSettle } from "./settleCall.ts";
import { digestOf } from "./settleCalls.ts";

const ROUTER = "0x00000000000000000000000000000000000000c0";
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;

// A node that has the blocks up to its head, and no logs of others.
function nodeAt(head: number): Endpoints["read"] {
  return async (method, [first]) => {
    if (method === "eth_getBlockByNumber") {
      const number = Number(first);
      return number > head ? null : { number: first, hash: word(number), timestamp: "0x1", transactions: [] };
    }
    return [];
  };
}

it("logs come from a node that has the last block, because one that has not does not say that some are missing", async () => {
  const asked: number[] = [];
  const endpoints = {
    names: ["one"] as readonly string[],
    async fromOne<T>(ask: (read: Endpoints["read"]) => Promise<T>): Promise<T> {
      try {
        return await ask(nodeAt(9));
      } catch {
        asked.push(9);
        return ask(nodeAt(10));
      }
    },
  } as Endpoints;
  const { settledBatches } = createBatchReads({
    endpoints,
    client: {} as PublicClient,
    router: ROUTER,
    maxLogRangeBlocks: 5n,
  });
  expect(await settledBatches(1n, 10n)).toEqual([]);
  expect(asked).toEqual([9]);
  // Nothing is asked about no blocks.
  expect(await settledBatches(12n, 11n)).toEqual([]);
});

const TX = word(7);
const TOPIC = encodeEventTopics({ abi: routerAbi, eventName: "BatchSettled" })[0];

const logOf = (batchId: Hex, txHash: Hex) => ({
  address: ROUTER,
  topics: [TOPIC, batchId, word(0), word(0xbb)],
  data: encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [5n, 5n]),
  blockNumber: "0x9",
  transactionHash: txHash,
  transactionIndex: "0x0",
  blockHash: word(9),
  logIndex: "0x0",
  removed: false,
});

// Endpoints by what they answer to a question; one that throws does not answer.
function readsOf(answers: readonly Endpoints["read"][]) {
  const answerOf = async (i: number, method: string, params: readonly unknown[]): Promise<Answer> => {
    try {
      return { kind: "result", endpoint: `${i}`, result: await answers[i]?.(method, params) };
    } catch {
      return { kind: "failure", endpoint: `${i}`, reason: "is silent", mayHaveArrived: false };
    }
  };
  const endpoints = {
    names: answers.map((_, i) => `${i}`),
    askOne: (name: string, method: string, params: readonly unknown[]) => answerOf(Number(name), method, params),
    askAll: (method: string, params: readonly unknown[]) => answers.map((_, i) => answerOf(i, method, params)),
    fromOne: async () => {
      throw new Error("nobody answers");
    },
    read: async () => null,
  } as unknown as Endpoints;
  return createBatchReads({ endpoints, client: createRpcClient(endpoints), router: ROUTER, maxLogRangeBlocks: 50n });
}

const silent: Endpoints["read"] = async () => {
  throw new Error("is silent");
};

it("a batch that one endpoint leaves out is found at another", async () => {
  const showing =
    (...logs: object[]): Endpoints["read"] =>
    async (method, params) =>
      method === "eth_getLogs" ? logs : nodeAt(10)(method, params);
  const all = [logOf(word(1), TX), logOf(word(2), word(8))];
  const { settledBatches } = readsOf([showing(all[1] as object), silent, showing(...all)]);
  const found = await settledBatches(1n, 10n);
  expect(found.map(({ batchId }) => batchId).sort()).toEqual([word(1), word(2)]);
  await expect(readsOf([silent, silent]).settledBatches(1n, 10n)).rejects.toThrow("nobody answers");
});

it("what became of a final transaction is what all endpoints show, or nothing", async () => {
  const shown =
    (fields: object): Endpoints["read"] =>
    async () => ({
      transactionHash: TX,
      blockNumber: "0x9",
      blockHash: word(9),
      status: "0x1",
      gasUsed: "0x1",
      cumulativeGasUsed: "0x1",
      logs: [],
      ...fields,
    });
  const unknown: Endpoints["read"] = async () => null;
  // It has the block, and leaves the receipt out.
  const denying: Endpoints["read"] = async (method) => (method === "eth_getBlockByHash" ? { hash: word(9) } : null);
  const right = shown({ logs: [logOf(word(1), TX)] });
  expect(await readsOf([right, unknown, silent, right]).finalReceipt(TX)).toMatchObject({
    status: "success",
    isAgreed: true,
  });
  expect(await readsOf([right, denying]).finalReceipt(TX)).toMatchObject({ isAgreed: false });
  for (const wrong of [shown({}), shown({ status: "0x0" }), shown({ blockHash: word(8), logs: [logOf(word(1), TX)] })])
    expect(await readsOf([right, wrong]).finalReceipt(TX)).toMatchObject({ differs: expect.stringContaining(TX) });
  expect(await readsOf([unknown, silent]).finalReceipt(TX)).toBeNull();
});

// A batch of 5 that was settled in a transaction, and what each endpoint says that the router keeps of it.
describe("the calldata of a batch", () => {
  const OPERATOR: Address = "0x00000000000000000000000000000000000000bb";
  const PAYER: Address = "0x00000000000000000000000000000000000000aa";
  const batchId = word(5);
  const callOf = (modelCost: bigint) =>
    encodeSettle({ previous: word(0), batchId, toolIds: [], rows: [{ payer: PAYER, modelCost, lines: [] }] });
  const call = callOf(5n);
  const digest = digestOf(OPERATOR, call, []) as Hex;

  async function found(
    transaction: { to: Address; input: Hex },
    { digests = [digest], trace = null, brought }: { digests?: Hex[]; trace?: object | null; brought?: Hex } = {},
  ): Promise<Hex | "hidden" | null> {
    const read: Endpoints["read"] = async (method) => {
      if (method === "debug_traceTransaction" && trace === null) throw new Error("method not found");
      if (method === "debug_traceTransaction") return trace;
      if (method === "eth_getTransactionByHash") return { hash: TX, ...transaction };
      return { transactionHash: TX, status: "0x1", logs: [logOf(batchId, TX)], gasUsed: "0x1" };
    };
    const kept = (one: Hex) => encodeAbiParameters([{ type: "uint256" }, { type: "bytes27" }], [1n, one]);
    const endpoints = {
      read,
      askAll: () =>
        digests.map(async (one, i): Promise<Answer> => ({ kind: "result", endpoint: `${i}`, result: kept(one) })),
    } as unknown as Endpoints;
    const options = { endpoints, client: createRpcClient(endpoints), router: ROUTER, maxLogRangeBlocks: 5n } as const;
    return createBatchReads(options).calldataOf(TX, batchId, brought);
  }

  it("is the transaction's, or is found where a contract was given it, or in a trace", async () => {
    expect(await found({ to: ROUTER, input: call })).toBe(call);
    const length = word((call.length - 2) / 2).slice(2);
    expect(await found({ to: OPERATOR, input: `0xdeadbeef${length}${call.slice(2)}` })).toBe(call);
    const trace = { to: OPERATOR, input: "0x", calls: [{ to: ROUTER, input: call }] };
    expect(await found({ to: OPERATOR, input: "0xdeadbeef" }, { trace })).toBe(call);
  });

  it("is hidden where no endpoint traces, and a person may bring it", async () => {
    const transaction = { to: OPERATOR, input: "0xdeadbeef" } as const;
    expect(await found(transaction)).toBe("hidden");
    expect(await found(transaction, { brought: call })).toBe(call);
    expect(await found(transaction, { brought: callOf(6n) })).toBe("hidden");
  });

  it("is not what one endpoint makes up: what the router keeps must say so everywhere", async () => {
    const forged = callOf(6n);
    const made = digestOf(OPERATOR, forged, []) as Hex;
    expect(await found({ to: ROUTER, input: forged })).toBe("hidden");
    expect(await found({ to: ROUTER, input: forged }, { digests: [made, digest] })).toBe("hidden");
    expect(await found({ to: ROUTER, input: call }, { digests: [digest, digest] })).toBe(call);
  });
});

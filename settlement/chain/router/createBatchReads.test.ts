import type { Hex, PublicClient } from "viem";
import { expect, it } from "vitest";
import type { Endpoints } from "../rpc/endpoints.ts";
import { createBatchReads } from "./createBatchReads.ts";

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

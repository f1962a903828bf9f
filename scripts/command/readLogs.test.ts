import type { HardhatEthersProvider } from "@nomicfoundation/hardhat-ethers/types";
import type { Filter, Log } from "ethers";
import { describe, expect, it } from "vitest";
import { readLogs } from "./readLogs.ts";

// A node with a log in every 700th block that searches at most `limit` blocks at once.
function nodeWithLimit(head: number, limit: number) {
  const asked: number[] = [];
  const getLogs = async ({ fromBlock, toBlock }: Filter): Promise<Log[]> => {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    asked.push(to - from + 1);
    if (to - from + 1 > limit) throw new Error("range too large");
    const blocks = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    return blocks.filter((block) => block % 700 === 0).map((blockNumber) => ({ blockNumber }) as Log);
  };
  const provider = { getLogs, getBlockNumber: async () => head } as unknown as HardhatEthersProvider;
  return { provider, asked };
}

const everyLog = (from: number, head: number) =>
  Array.from({ length: head - from + 1 }, (_, index) => from + index).filter((block) => block % 700 === 0);

describe("readLogs", () => {
  it("a node without a limit is asked once", async () => {
    const { provider, asked } = nodeWithLimit(50_000, Number.POSITIVE_INFINITY);
    expect((await readLogs(provider, "0x", [], 100)).map(({ blockNumber }) => blockNumber)).toEqual(
      everyLog(100, 50_000),
    );
    expect(asked).toHaveLength(1);
  });

  it.each([1_000, 2_048, 9_999])("behind a limit of %i blocks every log is found once and in order", async (limit) => {
    const { provider } = nodeWithLimit(50_000, limit);
    expect((await readLogs(provider, "0x", [], 100)).map(({ blockNumber }) => blockNumber)).toEqual(
      everyLog(100, 50_000),
    );
  });

  it("a node that refuses even a small range is given up on after a few questions", async () => {
    const { provider, asked } = nodeWithLimit(1_000_000, 0);
    await expect(readLogs(provider, "0x", [], 0)).rejects.toThrow("range too large");
    expect(asked.length).toBeLessThan(20);
  });
});

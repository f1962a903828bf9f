import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksAtTimestamp } from "./blocksAtTimestamp.ts";

const GENESIS = 1_700_000_000;

function timestampsOf(gaps: readonly number[]): number[] {
  let timestamp = GENESIS;
  return gaps.map((gap) => {
    timestamp += gap;
    return timestamp;
  });
}

async function search(timestamps: readonly number[], wanted: number) {
  let reads = 0;
  const datedOf = (index: number) => ({ number: BigInt(index), timestamp: BigInt(timestamps[index] ?? 0) });
  const range = { low: datedOf(0), high: datedOf(timestamps.length - 1) };
  const found = await blocksAtTimestamp(BigInt(wanted), range, async (number) => {
    reads += 1;
    return datedOf(Number(number)).timestamp;
  });
  return { found, reads };
}

describe("the blocks at a timestamp", () => {
  it("take three reads to find on a chain with even intervals", async () => {
    const timestamps = timestampsOf(Array(10_000).fill(2));
    const { found, reads } = await search(timestamps, GENESIS + 2 * 7_778);
    expect(found).toEqual({ first: 7_777n, last: 7_777n });
    expect(reads).toBe(3);
  });

  it("are found on any chain, shared or not, with few reads, and none is found where there is none", async () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1_000_000 })), {
      minLength: 1,
      maxLength: 300,
    });
    await fc.assert(
      fc.asyncProperty(gaps, fc.nat(), fc.integer({ min: -1, max: 1 }), async (gaps, pick, shift) => {
        const timestamps = timestampsOf(gaps);
        const wanted = (timestamps[pick % timestamps.length] ?? 0) + shift;
        const { found, reads } = await search(timestamps, wanted);
        const first = timestamps.indexOf(wanted);
        const last = timestamps.lastIndexOf(wanted);
        expect(found).toEqual(first === -1 ? null : { first: BigInt(first), last: BigInt(last) });
        expect(reads).toBeLessThanOrEqual(40);
      }),
      { numRuns: 500 },
    );
  });
});

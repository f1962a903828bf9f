import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockAtTimestamp, type DatedBlock } from "./blockAtTimestamp.ts";

async function search(blocks: readonly DatedBlock[], timestamp: bigint) {
  const [low, high] = [blocks[0], blocks.at(-1)];
  if (!low || !high) throw new RangeError("a chain has blocks");
  let reads = 0;
  const found = await blockAtTimestamp(timestamp, { low, high }, async (number) => {
    reads += 1;
    return blocks[Number(number)] ?? null;
  });
  return { found, reads };
}

function chainOf(gaps: readonly number[]): DatedBlock[] {
  let timestamp = 1_700_000_000n;
  return gaps.map((gap, i) => {
    timestamp += BigInt(gap);
    return { number: BigInt(i), timestamp };
  });
}

describe("the block at a timestamp", () => {
  it("is found with one read on a chain with even intervals", async () => {
    const blocks = chainOf(Array(10_000).fill(2));
    const { found, reads } = await search(blocks, blocks[7_777]?.timestamp ?? 0n);
    expect(found).toEqual(blocks[7_777]);
    expect(reads).toBe(1);
  });

  it("is found on any chain, with few reads, and nothing is found where there is none", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 1_000_000 })), {
          minLength: 2,
          maxLength: 300,
        }),
        fc.nat(),
        async (gaps, pick) => {
          const blocks = chainOf(gaps);
          const wanted = blocks[pick % blocks.length];
          const { found, reads } = await search(blocks, wanted?.timestamp ?? 0n);
          expect(found).toEqual(wanted);
          expect(reads).toBeLessThanOrEqual(20);

          const between = (wanted?.timestamp ?? 0n) + 1n;
          const expected = blocks.find(({ timestamp }) => timestamp === between) ?? null;
          expect((await search(blocks, between)).found).toEqual(expected);
        },
      ),
    );
  });
});

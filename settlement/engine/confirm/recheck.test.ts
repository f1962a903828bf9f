import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { Mined } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";
import { type Anchor, recheck } from "./recheck.ts";

const KEY: Address = "0x00000000000000000000000000000000000000aa";
const LEASE = { operator: KEY, holder: "tests", token: 1, untilMs: 0 };
const hash = (n: number, fork = ""): Hex => `0x${fork}${n.toString(16).padStart(64 - fork.length, "0")}`;

// A batch in each of the blocks from 1 to 500, none of them final.
describe("what is mined and not final", () => {
  let mined: Mined[];
  let blockHashes: Map<bigint, Hex>;
  let asked: bigint[];
  let lost: Hex[];
  let context: EngineContext;
  let anchor: Anchor | null;

  beforeEach(async () => {
    mined = Array.from({ length: 500 }, (_, i) => at(i + 1));
    blockHashes = new Map(Array.from({ length: 502 }, (_, n) => [BigInt(n), hash(n)]));
    asked = [];
    lost = [];
    context = {
      chain: {
        blockHash: async (number: bigint) => {
          asked.push(number);
          return blockHashes.get(number) ?? null;
        },
      },
      ledger: {
        listMinedAbove: async (_: Address, block: bigint) =>
          mined.filter(({ blockNumber }) => blockNumber > block).reverse(),
        listMinedUpTo: async (_: Address, block: bigint) => mined.filter(({ blockNumber }) => blockNumber <= block),
        recordLoss: async (_: unknown, id: Hex) => {
          lost.push(id);
          mined = mined.filter((one) => one.id !== id);
        },
      },
      report: () => {},
    } as unknown as EngineContext;
    anchor = await recheck(context, LEASE, null);
    asked = [];
  });

  const at = (n: number): Mined => ({ id: hash(n, "ba7c"), blockNumber: BigInt(n), blockHash: hash(n) });

  // From this block on the chain is another one.
  const fork = (from: number) => {
    for (let n = from; n <= 501; n++) blockHashes.set(BigInt(n), hash(n, "f0"));
  };

  it("costs one question in a tick, however much it is", async () => {
    expect(await recheck(context, LEASE, anchor)).toEqual({ token: 1, blockNumber: 500n, blockHash: hash(500) });
    expect(asked).toEqual([500n]);
  });

  it("costs one question more for what is new", async () => {
    mined.push(at(501));
    expect(await recheck(context, LEASE, anchor)).toMatchObject({ blockNumber: 501n });
    expect(asked).toEqual([501n, 500n]);
  });

  it("is lost as far as a reorg goes, and nothing below is asked for", async () => {
    fork(498);
    anchor = await recheck(context, LEASE, anchor);
    expect(lost).toEqual([500, 499, 498].map((n) => at(n).id));
    expect(anchor).toMatchObject({ blockNumber: 497n });
    expect(Math.min(...asked.map(Number))).toBeGreaterThan(400);
  });

  it("is found lost, too, when something was mined on the new chain before anybody looked", async () => {
    fork(499);
    mined.push({ ...at(501), blockHash: hash(501, "f0") });
    anchor = await recheck(context, LEASE, anchor);
    expect(lost).toEqual([500, 499].map((n) => at(n).id));
    expect(anchor).toMatchObject({ blockNumber: 501n });
  });

  it("is not lost because an endpoint has not got so far, and is asked for again", async () => {
    mined.push(at(501));
    blockHashes.delete(501n);
    anchor = await recheck(context, LEASE, anchor);
    blockHashes.delete(500n);
    anchor = await recheck(context, LEASE, anchor);
    expect(lost).toEqual([]);
    expect(anchor).toMatchObject({ blockNumber: 499n });
    fork(500);
    await recheck(context, LEASE, anchor);
    expect(lost).toEqual([501, 500].map((n) => at(n).id));
  });

  it("is asked for one by one after somebody else had the lease", async () => {
    await recheck(context, { ...LEASE, token: 2 }, anchor);
    expect(asked).toHaveLength(500);
  });
});

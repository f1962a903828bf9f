import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { EngineContext } from "../context.ts";
import { reconcile } from "./reconcile.ts";

const KEY: Address = "0x00000000000000000000000000000000000000aa";
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;

// A chain of ten blocks, of which the first five are final, and a ledger that is halted.
describe("a person who reconciles", () => {
  let batches: { batchId: Hex; operator: Address; txHash: Hex; blockNumber: bigint }[];
  let finals: { id: Hex; kind: string; blockNumber: bigint; blockHash: Hex; txHash: Hex }[];
  let head: bigint;
  let lifted: unknown[];
  let fencedOff: number;
  let context: EngineContext;

  beforeEach(() => {
    batches = [];
    finals = [];
    lifted = [];
    head = 10n;
    fencedOff = 0;
    context = {
      chain: {
        finalized: async () => ({ number: 5n, hash: hash(5), timestampMs: 0 }),
        head: async () => ({ number: head, hash: hash(Number(head)), timestampMs: 0 }),
        blockHash: async (number: bigint) => (number <= head ? hash(Number(number)) : null),
        nonce: async () => 0,
        settledBatches: async (from: bigint, to: bigint) =>
          batches.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to),
      },
      ledger: {
        noteHome: async () => ({ kind: "same", nowMs: null }),
        fenceOff: async () => {
          fencedOff += 1;
        },
        readHalt: async () => ({ reason: "somebody must look", sinceMs: 7 }),
        resume: async (halt: unknown) => lifted.push(halt),
        readFinalized: async () => ({ number: 3n, hash: hash(3) }),
        listOperators: async () => [{ operator: KEY }],
        findSubmission: async () => null,
        listFinalSince: async (block: bigint) => finals.filter(({ blockNumber }) => blockNumber >= block),
        listFinalFrom: async () => [],
        listBatches: async () => [],
      },
      looking: { lifted: 0 },
      signers: [],
      clock: { nowMs: () => 0 },
      fromBlock: 0n,
    } as unknown as EngineContext;
  });

  const resume = () => reconcile(context, { batches: 10, resume: true });

  it("lifts the halt that was there when the look began", async () => {
    expect(await resume()).toMatchObject({ resumed: true, differences: [] });
    expect(lifted).toEqual([{ reason: "somebody must look", sinceMs: 7 }]);
  });

  it("fences off every key if told that the ledger is a snapshot, and not otherwise", async () => {
    await resume();
    expect(fencedOff).toBe(0);
    await reconcile(context, { batches: 10, fence: true });
    expect(fencedOff).toBe(1);
  });

  it("lifts none while a batch of our keys that nobody knows is not final yet", async () => {
    batches.push({ batchId: hash(1), operator: KEY, txHash: hash(99), blockNumber: 8n });
    const { resumed, differences } = await resume();
    expect(resumed).toBe(false);
    expect(differences).toEqual([expect.stringContaining("once the chain calls it final --adopt takes it in")]);
  });

  it("lifts none while something that was final is gone, or cannot be seen, above what is final now", async () => {
    const final = { id: hash(1), kind: "settle", txHash: hash(99) };
    finals.push({ ...final, blockNumber: 8n, blockHash: hash(88) });
    expect((await resume()).differences).toEqual([expect.stringContaining("so wait and run this again")]);
    finals = [{ ...final, blockNumber: 12n, blockHash: hash(12) }];
    expect((await resume()).resumed).toBe(false);
    // Finality has only gone back, and the chain is what it was.
    finals = [{ ...final, blockNumber: 8n, blockHash: hash(8) }];
    expect((await resume()).resumed).toBe(true);
  });
});

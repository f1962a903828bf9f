import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { Contest } from "../../domain/batch/contest.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { EngineContext, EngineEvent } from "../context.ts";
import { createWatch } from "./watch.ts";

const KEY: Address = "0x00000000000000000000000000000000000000aa";
const OTHER: Address = "0x00000000000000000000000000000000000000bb";
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
const rowsOf = (modelCost: bigint, previous = NO_BATCH) =>
  encodeSettle({ previous, batchId: hash(1), toolIds: [], rows: [{ payer: OTHER, modelCost, lines: [] }] });
const CALLDATA = rowsOf(5n);
const LEASE = { operator: KEY, holder: "tests", token: 1, untilMs: 0 };

// A chain of ten blocks, of which the first five are final, and a ledger that has given out the nonces 0 and 1.
describe("the watch", () => {
  let batches: { batchId: Hex; operator: Address; txHash: Hex; blockNumber: bigint }[];
  // What the endpoint that is asked first does not show.
  let leftOut: typeof batches;
  let finals: { id: Hex; kind: string; blockNumber: bigint; blockHash: Hex; txHash: Hex }[];
  let contests: Contest[];
  let noted: (readonly Contest[])[];
  let known: Map<Hex, string>;
  let blockHashes: Map<bigint, Hex>;
  let chainNonce: number;
  let latestNonce: number | null;
  let fence: number;
  let minedCalldata: Hex | null;
  let finalized: { number: bigint; hash: Hex } | null;
  let halt: string | null;
  let events: EngineEvent["kind"][];
  let context: EngineContext;
  let watch: ReturnType<typeof createWatch>;
  const note = async (found: readonly Contest[]) => void noted.push(found);

  beforeEach(() => {
    batches = [];
    leftOut = [];
    finals = [];
    contests = [];
    noted = [];
    known = new Map();
    blockHashes = new Map(Array.from({ length: 11 }, (_, n) => [BigInt(n), hash(n)]));
    chainNonce = 2;
    [latestNonce, fence] = [null, 0];
    minedCalldata = null;
    finalized = { number: 3n, hash: hash(3) };
    halt = null;
    events = [];
    const stop = async (reason: string) => {
      halt ??= reason;
    };
    context = {
      chain: {
        finalized: async () => ({ number: 5n, hash: hash(5), timestampMs: 0 }),
        head: async () => ({ number: 10n, hash: hash(10), timestampMs: 0 }),
        blockHash: async (number: bigint) => blockHashes.get(number) ?? null,
        settledAndContested: async (from: bigint, to: bigint) => ({
          batches: batches.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to),
          contests,
        }),
        settledBatches: async (from: bigint, to: bigint) =>
          [...batches, ...leftOut].filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to),
        nonce: async (_: Address, at: unknown) => (at === "latest" ? (latestNonce ?? chainNonce) : chainNonce),
        calldataOf: async () => minedCalldata,
      },
      ledger: {
        readFinalized: async () => finalized,
        noteFinalized: async (block: { number: bigint; hash: Hex }) => {
          finalized = { number: block.number, hash: block.hash };
        },
        listOperators: async () => [{ operator: KEY, holder: "tests", untilMs: 0, nextNonce: 2, fence }],
        findSubmission: async (batchId: Hex) =>
          known.has(batchId)
            ? { state: { kind: known.get(batchId) }, broadcasts: [{ txHash: hash(99) }], calldata: CALLDATA }
            : null,
        listFinalSince: async () => finals,
        readHalt: async () => (halt === null ? null : { reason: halt, sinceMs: 0 }),
        halt: stop,
        haltForUndoneBlock: async (reason: string, block: { number: bigint; hash: Hex }) => {
          finalized = block;
          await stop(reason);
        },
        haltForForeignNonces: async (_: unknown, __: number, reason: string) => stop(reason),
      },
      signers: [{ address: KEY }],
      clock: { nowMs: () => 0 },
      fromBlock: 0n,
      looking: { lifted: 0 },
      report: ({ kind }: EngineEvent) => events.push(kind),
    } as unknown as EngineContext;
    watch = createWatch(context, note);
  });

  const settle = (batchId: Hex, operator = KEY) =>
    batches.push({ batchId, operator, txHash: hash(99), blockNumber: 7n });

  it("goes on from the newest final block when it knows every batch of our keys", async () => {
    settle(hash(1));
    known.set(hash(1), "submitted");
    settle(hash(2), OTHER);
    expect(await watch.watch()).toBe(true);
    expect(halt).toBeNull();
    expect(finalized).toEqual({ number: 5n, hash: hash(5) });
  });

  it("notes what is contested of our keys, and of no other, also while all is halted", async () => {
    const contest = (operator: Address): Contest => ({
      batchId: hash(1),
      account: OTHER,
      operator,
      contester: OTHER,
      charged: 5n,
      untilMs: 1_000,
      lines: [],
      blockNumber: 4n,
    });
    contests = [contest(KEY), contest(OTHER)];
    halt = "somebody must look";
    await watch.watch();
    expect(noted).toEqual([[contest(KEY)]]);
  });

  it("has nothing to say about blocks before the ledger's first, whatever is final", async () => {
    context = { ...context, fromBlock: 8n };
    watch = createWatch(context, note);
    settle(hash(1));
    await watch.watch();
    await watch.watch();
    expect(halt).toBeNull();
  });

  it("halts on a batch of our key that is not in the ledger, and goes no further", async () => {
    settle(hash(1));
    await watch.watch();
    expect(halt).toContain("not in the ledger");
    expect(events).toEqual(["halted"]);
    expect(finalized?.number).toBe(3n);
  });

  it("looks again at what a person took in while it looked, and goes no further until then", async () => {
    settle(hash(1));
    context.ledger.halt = async () => {
      throw new SettlementError("fenced", "a halt was lifted meanwhile");
    };
    await expect(watch.watch()).rejects.toThrow("lifted meanwhile");
    expect(finalized?.number).toBe(3n);
    known.set(hash(1), "final");
    await watch.watch();
    expect(finalized?.number).toBe(5n);
  });

  it("halts on a batch that the ledger has abandoned, whoever settled it", async () => {
    settle(hash(1), OTHER);
    known.set(hash(1), "abandoned");
    await watch.watch();
    expect(halt).toContain("abandoned");
  });

  it("halts on a root of ours that somebody has settled with other rows, and says nothing while nobody shows them", async () => {
    batches.push({ batchId: hash(1), operator: OTHER, txHash: hash(98), blockNumber: 7n });
    known.set(hash(1), "submitted");
    await expect(watch.watch()).rejects.toMatchObject({ retryable: true });
    // A peer has settled it after a batch of its own.
    minedCalldata = rowsOf(5n, hash(77));
    await watch.watch();
    expect(halt).toBeNull();
    minedCalldata = rowsOf(6n);
    await watch.watch();
    expect(halt).toContain("other rows");
  });

  it("halts on a batch that the endpoint which is asked first leaves out, before its block is never read again", async () => {
    leftOut = [{ batchId: hash(1), operator: KEY, txHash: hash(99), blockNumber: 5n }];
    await watch.watch();
    expect(halt).toContain("not in the ledger");
    expect(finalized?.number).toBe(3n);
  });

  it("looks once more at what is final: a batch may have been given up since it was mined", async () => {
    const head = { number: 200n, hash: hash(10), timestampMs: 0, baseFeePerGas: 0n, maxGas: 0n };
    context.chain.head = async () => head;
    blockHashes.set(200n, hash(10));
    settle(hash(1));
    known.set(hash(1), "submitted");
    await watch.watch();
    known.set(hash(1), "abandoned");
    // It is far from the head, and still to become final.
    await watch.watch();
    expect(halt).toBeNull();
    context.chain.finalized = async () => ({ number: 7n, hash: hash(7), timestampMs: 0 });
    await watch.watch();
    expect(halt).toContain("abandoned");
  });

  it("finds again what was there while all was halted, however far it is from the head by then", async () => {
    context.chain.head = async () => ({ number: 200n, hash: hash(10), timestampMs: 0, baseFeePerGas: 0n, maxGas: 0n });
    blockHashes.set(200n, hash(10));
    watch = createWatch(context, note);
    settle(hash(1));
    await watch.watch();
    halt = null;
    await watch.watch();
    expect(halt).toContain("not in the ledger");
  });

  it("halts when a block that was final is another one now, even if nobody was looking", async () => {
    blockHashes.set(3n, hash(33));
    await watch.watch();
    expect(halt).toContain("block 3 was final");
    // Once somebody has looked, the same block is not found again.
    expect(finalized).toEqual({ number: 0n, hash: hash(0) });
  });

  it("halts when something that became final since is in a block that the chain has left", async () => {
    finals = [{ id: hash(1), kind: "settle", blockNumber: 4n, blockHash: hash(4), txHash: hash(99) }];
    await watch.watch();
    expect(halt).toBeNull();
    finalized = { number: 3n, hash: hash(3) };
    blockHashes.set(4n, hash(44));
    await watch.watch();
    expect(halt).toContain("which the chain has undone");
    expect(finalized?.number).toBe(3n);
  });

  it("goes on from the same block under its new hash if the router came later than what was final, and halts once", async () => {
    context = { ...context, fromBlock: 8n };
    watch = createWatch(context, note);
    blockHashes.set(3n, hash(33));
    await watch.watch();
    expect(halt).toContain("block 3 was final");
    expect(finalized).toEqual({ number: 3n, hash: hash(33) });
    halt = null;
    await watch.watch();
    expect(halt).toBeNull();
  });

  it("says nothing about a chain that is shorter than what was final, and waits", async () => {
    blockHashes.delete(3n);
    expect(await watch.watch()).toBe(false);
    expect(halt).toBeNull();
    expect(events).toEqual(["holding"]);
  });

  it("halts when the key has used a nonce that the ledger never gave out", async () => {
    expect(await watch.checkNonces(LEASE)).toBe(true);
    expect(halt).toBeNull();
    // Once may be a slip of an endpoint's. Nothing is planned on top of it.
    chainNonce = 4;
    expect(await watch.checkNonces(LEASE)).toBe(false);
    chainNonce = 2;
    expect(await watch.checkNonces(LEASE)).toBe(true);
    chainNonce = 4;
    expect(await watch.checkNonces(LEASE)).toBe(false);
    expect(halt).toBeNull();
    expect(await watch.checkNonces(LEASE)).toBe(false);
    expect(halt).toContain("nonce 2 to 3");
    expect(events).toEqual(["holding", "holding", "key_used_elsewhere", "halted"]);
  });

  it("believes nobody alone about a nonce, and leaves what is fenced off to the fence", async () => {
    latestNonce = 1_000_000;
    for (let i = 0; i < 3; i++) expect(await watch.checkNonces(LEASE)).toBe(true);
    [chainNonce, fence] = [4, -1];
    for (let i = 0; i < 3; i++) expect(await watch.checkNonces(LEASE)).toBe(true);
    expect(halt).toBeNull();
  });
});

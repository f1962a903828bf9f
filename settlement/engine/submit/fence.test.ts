import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { Block } from "../../chain/chain.ts";
import type { OtherSubmission, Submission } from "../../domain/batch/submission.ts";
import type { EngineContext, EngineEvent } from "../context.ts";
import { checkHome, fence } from "./fence.ts";

const KEY: Address = "0x00000000000000000000000000000000000000aa";
const OTHER: Address = "0x00000000000000000000000000000000000000bb";
const LEASE = { operator: KEY, holder: "tests", token: 1, untilMs: 0 };
const HASH: Hex = `0x${"1".repeat(64)}`;
const HEAD: Hex = `0x${"2".repeat(64)}`;
const FINAL: Block = { number: 1n, hash: HASH, timestampMs: 0 };

// A restored ledger that has given out the nonces below 5, of which the chain has mined those below 7: with two in flight at
// the most, forgotten bytes can wait on the nonces 7 and 8.
describe("a key after a restore", () => {
  let fences: Map<Address, number>;
  let chainNonce: number;
  let finalNonce: number;
  let filled: number[];
  let sent: number;
  let events: EngineEvent[];
  let home: string;
  let context: EngineContext;

  beforeEach(() => {
    fences = new Map([
      [KEY, -1],
      [OTHER, 0],
    ]);
    [chainNonce, finalNonce, filled, sent, events, home] = [7, 3, [], 0, [], "there"];
    const numbered = (id: Hex, nonce: number | null) => ({ id, nonce, to: KEY, calldata: "0x", gasLimit: 1n });
    context = {
      ledger: {
        noteHome: async () =>
          home === "here" ? { kind: "same", nowMs: 7 } : { kind: "moved", from: "here", to: home, nowMs: 7 },
        listOperators: async () => [...fences].map(([operator, reach]) => ({ operator, nextNonce: 5, fence: reach })),
        setFence: async (_: unknown, nonce: number) => void fences.set(KEY, nonce),
        removeFence: async () => void fences.set(KEY, 0),
        planFiller: async (_: unknown, filler: OtherSubmission) => {
          filled.push(filler.nonce ?? -1);
          return { ...filler, gasLimit: 0n, state: { kind: "planned" }, broadcasts: [] };
        },
        assignNonce: async (_: unknown, id: Hex) => numbered(id, filled.at(-1) ?? null),
        saveBroadcast: async (_: unknown, id: Hex, broadcast: unknown) => ({ id, broadcasts: [broadcast] }),
      },
      chain: {
        chainId: 1,
        finalized: async () => FINAL,
        nonce: async (_: Address, at: "latest" | Block) =>
          at !== "latest" && at.hash === HASH ? finalNonce : chainNonce,
        head: async () => ({ ...FINAL, hash: HEAD, baseFeePerGas: 1n, maxGas: 100_000n }),
        priorityFee: async () => 1n,
        simulate: async () => ({ kind: "ok", gas: 21_000n }),
        send: async () => {
          sent += 1;
          return { kind: "accepted" };
        },
      },
      looking: { lifted: 0 },
      policy: { maxInFlight: 2, maxFeePerGasCeiling: 1_000n },
      clock: { nowMs: () => 0 },
      reached: () => {},
      report: (event: EngineEvent) => events.push(event),
    } as unknown as EngineContext;
  });

  const signer = { address: KEY, sign: async () => ({ raw: "0x00" as const, txHash: HASH }) };
  const go = async (open: readonly Submission[] = []) => (await fence(context, LEASE, signer, open)).kind;

  it("fills every nonce that forgotten bytes can be on, and plans nothing until those are final", async () => {
    expect(await go()).toBe("fenced");
    expect(fences.get(KEY)).toBe(11);
    expect(await go()).toBe("fenced");
    expect([filled, sent]).toEqual([[7, 8, 9, 10], 4]);

    chainNonce = 11;
    expect(await go()).toBe("fenced");
    expect(fences.get(KEY)).toBe(11);
    finalNonce = 11;
    // The watch must look once more before anything is planned.
    expect(await go()).toBe("fenced");
    expect(await go()).toBe("open");
  });

  it("fills them whatever a simulation says: somebody may have given the account code that refuses", async () => {
    context.chain.simulate = async () => ({ kind: "reverts", reason: "code of an account" });
    fences.set(KEY, 9);
    await go();
    expect([filled, sent]).toEqual([[7, 8], 2]);
  });

  it("reaches farther if more is mined than it was set for: whoever was asked then lagged behind", async () => {
    fences.set(KEY, 9);
    [chainNonce, finalNonce] = [10, 9];
    expect(await go()).toBe("fenced");
    expect(fences.get(KEY)).toBe(14);
    await go();
    expect(filled).toEqual([10, 11, 12, 13]);
  });

  it("goes through no more than can be in flight, however long ago the nonce is that an endpoint names", async () => {
    fences.set(KEY, 10_000);
    chainNonce = 0;
    await go();
    expect(filled).toHaveLength(8);
  });

  it("leaves nonces alone that the ledger has bytes for", async () => {
    fences.set(KEY, 9);
    await go([{ nonce: 7, state: { kind: "submitted" } } as Submission]);
    expect(filled).toEqual([8]);
  });

  it.each([
    ["payout", 1],
    ["answer", 1],
    // Whatever it would charge may be settled already.
    ["settle", 0],
  ] as const)("finds a %s on a nonce that was never signed, and sends %i", async (kind, times) => {
    fences.set(KEY, 8);
    const found = { id: HASH, kind, nonce: 7, to: KEY, calldata: "0x", gasLimit: 1n, state: { kind: "planned" } };
    context.ledger.planFiller = async () => ({ ...found, broadcasts: [] }) as unknown as Submission;
    filled.push(7);
    expect(await go([found as unknown as Submission])).toBe("fenced");
    expect(sent).toBe(times);
  });

  it("waits for the other keys of the ledger as well", async () => {
    fences = new Map([
      [KEY, 0],
      [OTHER, 4],
    ]);
    expect(await go()).toBe("fenced");
    fences.set(OTHER, 0);
    expect(await go()).toBe("open");
  });

  it("is told of when the ledger is found in another place", async () => {
    expect(await checkHome(context)).toEqual({ nowMs: 7, moved: { from: "here", to: "there" } });
    expect(events).toEqual([{ kind: "ledger_moved", from: "here", to: "there" }]);
    home = "here";
    await checkHome(context);
    expect(events).toHaveLength(1);
  });
});

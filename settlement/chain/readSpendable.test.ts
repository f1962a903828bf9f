import type { Address } from "viem";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createReadSpendable, type ReadSpendableOptions } from "./readSpendable.ts";
import { spendableOf } from "./testing/spendableOf.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const payerOf = (i: number): Address => `0x${i.toString(16).padStart(40, "a")}`;

function setUp(options: Partial<ReadSpendableOptions> = {}) {
  const calls: Address[][] = [];
  const state = { amount: 5n, nowMs: 1_000_000, fails: false };
  const answerOf = (payer: Address) => spendableOf(payer, state.amount, { atBlock: 7n });
  const read = createReadSpendable({
    spendable: async (payers) => {
      calls.push([...payers]);
      if (state.fails) throw new Error("no endpoint answered");
      return payers.map(answerOf);
    },
    clock: { nowMs: () => state.nowMs },
    ...options,
  });
  // Asks for all at once and lets the moment of gathering pass.
  const readAll = async (payers: readonly Address[]) => {
    const answers = Promise.allSettled(payers.map((payer) => read(payer)));
    await vi.advanceTimersByTimeAsync(10);
    return answers;
  };
  return { calls, state, read, readAll };
}

describe("reading what payers can spend", () => {
  it("takes one call for questions of the same moment, and one place for the same payer", async () => {
    const { calls, readAll } = setUp();
    const upperCase = `0x${payerOf(2).slice(2).toUpperCase()}` as Address;
    const answers = await readAll([payerOf(1), payerOf(2), upperCase, payerOf(1)]);
    expect(calls).toEqual([[payerOf(1), payerOf(2)]]);
    expect(answers.map((answer) => answer.status)).toEqual(Array(4).fill("fulfilled"));
  });

  it("gives everybody the own answer", async () => {
    const { readAll } = setUp();
    const payers = Array.from({ length: 50 }, (_, i) => payerOf(i));
    const answers = await readAll(payers);
    expect(answers.map((answer) => answer.status === "fulfilled" && answer.value.payer)).toEqual(payers);
  });

  it("keeps an answer for a second and not longer", async () => {
    const { calls, state, readAll } = setUp();
    await readAll([payerOf(1)]);
    state.amount = 6n;
    state.nowMs += 999;
    expect(await readAll([payerOf(1)])).toMatchObject([{ value: { amount: 5n } }]);
    expect(calls).toHaveLength(1);
    state.nowMs += 1;
    expect(await readAll([payerOf(1)])).toMatchObject([{ value: { amount: 6n } }]);
  });

  it("trusts no answer from before the clock was set back", async () => {
    const { state, readAll } = setUp();
    await readAll([payerOf(1)]);
    state.amount = 6n;
    state.nowMs -= 3_600_000;
    expect(await readAll([payerOf(1)])).toMatchObject([{ value: { amount: 6n } }]);
  });

  it("splits what does not fit into one call", async () => {
    const { calls, readAll } = setUp({ maxPayersPerRead: 2 });
    await readAll([1, 2, 3, 4, 5].map(payerOf));
    expect(calls.map((payers) => payers.length)).toEqual([2, 2, 1]);
  });

  it("tells everybody who waits of a failure, and asks again the next time", async () => {
    const { state, readAll } = setUp();
    state.fails = true;
    expect((await readAll([payerOf(1), payerOf(2)])).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    state.fails = false;
    expect((await readAll([payerOf(1)])).map(({ status }) => status)).toEqual(["fulfilled"]);
  });

  it("forgets the oldest answers first when there are too many", async () => {
    const { calls, readAll } = setUp({ maxCached: 2 });
    await readAll([payerOf(1)]);
    await readAll([payerOf(2)]);
    await readAll([payerOf(3)]);
    await readAll([payerOf(2), payerOf(3)]);
    expect(calls).toHaveLength(3);
    await readAll([payerOf(1)]);
    expect(calls).toHaveLength(4);
  });

  it("refuses more payers than may wait, to be tried again", async () => {
    const { readAll } = setUp({ maxWaiting: 1 });
    expect(await readAll([payerOf(1), payerOf(2)])).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "chain_unavailable", retryable: true } },
    ]);
  });
});

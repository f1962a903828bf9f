import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Contest } from "../../domain/batch/contest.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import { ALICE, BOB, hashOf, inclusionAt, leaseOf, OPERATOR, ROUTER } from "../testing/fixtures.ts";

const ROOT = hashOf("batch_id");
const OTHER = hashOf("other");
const LINES = [
  { toolId: `0x${"0".repeat(32)}`, amount: 0n },
  { toolId: `0x${"1".repeat(32)}`, amount: 7n },
] as const;
const contestOf = (fields: Partial<Contest> = {}): Contest => ({
  batchId: ROOT,
  account: ALICE,
  operator: OPERATOR,
  contester: BOB,
  charged: 7n,
  untilMs: 5_000,
  lines: LINES,
  blockNumber: 3n,
  ...fields,
});

describe.each(ledgers)("contests on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
  });
  afterEach(() => store.remove());

  const answer = (answers: number, fields: { batchId?: typeof ROOT } = {}) =>
    ledger.planAnswer(
      lease,
      { batchId: ROOT, account: ALICE, court: ROUTER, calldata: "0x12", answers, ...fields },
      20,
    );

  it("are noted once, and come back with all that the court said", async () => {
    expect(await ledger.noteContests([contestOf()], 10)).toEqual([contestOf()]);
    expect(await ledger.noteContests([contestOf()], 11)).toEqual([]);
    const noted = { ...contestOf(), state: "open", notedAtMs: 10, answers: 0, answer: null };
    expect(await ledger.listOpenContests(OPERATOR, 10)).toEqual([noted]);
    expect(await ledger.listContests(10, 0)).toEqual([noted]);
    expect(await ledger.listOpenContests(BOB, 10)).toEqual([]);
    expect((await ledger.readGauges()).contests).toEqual({ count: 1, amount: 7n });
  });

  it("that end first are answered first", async () => {
    await ledger.noteContests([contestOf(), contestOf({ batchId: OTHER, untilMs: 4_000 })], 10);
    expect((await ledger.listOpenContests(OPERATOR, 10)).map(({ batchId }) => batchId)).toEqual([OTHER, ROOT]);
    expect(await ledger.listOpenContests(OPERATOR, 1)).toHaveLength(1);
  });

  it("that are mined again in another block have that block's end, and what has ended stays so", async () => {
    await ledger.noteContests([contestOf()], 10);
    const again = contestOf({ blockNumber: 2n, untilMs: 6_000 });
    expect(await ledger.noteContests([again], 11)).toEqual([again]);
    expect(await ledger.listContests(10, 0)).toMatchObject([{ blockNumber: 2n, untilMs: 6_000, notedAtMs: 10 }]);
    expect(await ledger.closeContest(lease, ROOT, ALICE, "undone")).toBe(true);
    expect(await ledger.noteContests([contestOf({ blockNumber: 9n })], 12)).toHaveLength(1);
    expect(await ledger.listContests(10, 0)).toMatchObject([{ state: "open", blockNumber: 9n }]);
    expect(await ledger.closeContest(lease, ROOT, ALICE, "answered")).toBe(true);
    expect(await ledger.closeContest(lease, ROOT, ALICE, "lapsed")).toBe(false);
    expect(await ledger.noteContests([contestOf({ blockNumber: 10n })], 13)).toEqual([]);
    expect(await ledger.listContests(10, 0)).toMatchObject([{ state: "answered" }]);
  });

  it("have one answer at a time, whoever plans it, and the next one has another name", async () => {
    await ledger.noteContests([contestOf()], 10);
    const first = await answer(0);
    expect(first).toMatchObject({ kind: "answer", to: ROUTER, calldata: "0x12", nonce: null, operator: OPERATOR });
    // Whoever looked before that knows of none.
    expect(await answer(0)).toBeNull();
    expect(await ledger.listUnmined(OPERATOR)).toEqual([first]);
    expect(await ledger.listOpenContests(OPERATOR, 1)).toMatchObject([
      { answers: 1, answer: { id: first?.id, state: "planned", txHash: null } },
    ]);
    await ledger.dropAnswer(lease, first?.id ?? "0x");
    await ledger.dropAnswer(lease, first?.id ?? "0x");
    expect(await ledger.listUnmined(OPERATOR)).toEqual([]);
    const second = await answer(1);
    expect(second?.id).not.toBe(first?.id);
    await ledger.closeContest(lease, ROOT, ALICE, "answered");
    expect(await answer(2)).toBeNull();
    expect(await answer(0, { batchId: OTHER })).toBeNull();
  });

  it("have answers that go the way of every submission", async () => {
    await ledger.noteContests([contestOf()], 10);
    const planned = await answer(0);
    const id = planned?.id ?? "0x";
    await ledger.assignNonce(lease, id, 4, 1_000n);
    await expect(ledger.dropAnswer(lease, id)).rejects.toMatchObject({ code: "invalid_input" });
    const bytes = { txHash: hashOf("tx"), raw: "0x02", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } as const;
    await ledger.saveBroadcast(lease, id, { ...bytes, signedAtMs: 30 });
    await ledger.recordInclusion(lease, id, inclusionAt(5n), "success", null);
    expect(await ledger.listOpenContests(OPERATOR, 1)).toMatchObject([
      { answer: { state: "included", blockNumber: 5n, txHash: hashOf("transaction") } },
    ]);
    await ledger.recordLoss(lease, id);
    await ledger.recordInclusion(lease, id, inclusionAt(6n), "reverted", null);
    await ledger.abandon(lease, id, 40);
    expect(await ledger.listOpenContests(OPERATOR, 1)).toMatchObject([{ answers: 1, answer: { state: "abandoned" } }]);
    expect(await ledger.audit()).toEqual([]);
  });

  it("are listed from the one that ends first on, or from the largest on", async () => {
    const third = hashOf("a third");
    await ledger.noteContests(
      [
        contestOf({ charged: 900n, untilMs: 7_000 }),
        contestOf({ batchId: OTHER, charged: 1_000n, untilMs: 8_000 }),
        contestOf({ batchId: third, charged: 20n, untilMs: 6_000 }),
      ],
      10,
    );
    const listed = async (order: "ending" | "largest") =>
      (await ledger.listOpenContests(OPERATOR, 10, 0, order)).map(({ batchId }) => batchId);
    expect(await listed("ending")).toEqual([third, ROOT, OTHER]);
    expect(await listed("largest")).toEqual([OTHER, ROOT, third]);
  });

  it("of another operator are nobody else's to answer or to end", async () => {
    await ledger.noteContests([contestOf({ operator: BOB })], 10);
    expect(await answer(0)).toBeNull();
    expect(await ledger.closeContest(lease, ROOT, ALICE, "lapsed")).toBe(false);
  });
});

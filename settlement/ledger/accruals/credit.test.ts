import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CreditPolicy } from "../../domain/payer/credit.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { createPostgresLedger, ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  BOB,
  HASHES,
  inclusionAt,
  leaseOf,
  outcomeOf,
  POLICY,
  RETRY,
  RICH,
  settled,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const credit: CreditPolicy = { base: usdc(100), growthBps: 1_000, max: usdc(1_000) };
const terms = { credit, prepaid: null };
const costing = (id: string, amount: number, payer = ALICE) =>
  turnOf(id, { payer, modelCost: usdc(amount), tools: [] });
const call = (callId: string, sessionId: string, amount: number) => ({
  callId,
  sessionId,
  toolId: toolOf(1),
  method: "m",
  amount: usdc(amount),
});

describe.each(ledgers)("credit on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
    for (const id of ["s", "t"]) {
      await ledger.openSession({ id, payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }, 0);
    }
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  const hold = (id: string, sessionId: string, amount: number, prepaid = 0n) =>
    ledger.hold(call(id, sessionId, amount), { ...RICH, prepaid }, 1, credit);

  it("is shared by a payer's turns and the calls of all its sessions, to the last unit", async () => {
    expect(await ledger.recordTurn(costing("a", 40), 0, terms)).toMatchObject({ kind: "recorded" });
    expect(await hold("c", "s", 30)).toMatchObject({ kind: "held" });
    expect(await hold("d", "t", 31)).toMatchObject({ kind: "credit_exceeded", exposure: 101n, limit: 100n });
    expect(await hold("d", "t", 30)).toMatchObject({ kind: "held" });
    expect(await ledger.recordTurn(costing("b", 1), 0, terms)).toMatchObject({ kind: "credit_exceeded", limit: 100n });
    expect(await hold("free", "t", 0)).toMatchObject({ kind: "held" });
    expect(await ledger.recordTurn(costing("bob", 100, BOB), 0, terms)).toMatchObject({ kind: "recorded" });
  });

  it("is not overrun by turns and calls that share a commit", async () => {
    const turns = Array.from({ length: 30 }, (_, i) => ledger.recordTurn(costing(`${i}`, 7), 0, terms));
    const holds = Array.from({ length: 30 }, (_, i) => hold(`${i}`, i % 2 === 0 ? "s" : "t", 7));
    const kinds = (await Promise.all([...turns, ...holds])).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "recorded" || kind === "held")).toHaveLength(14);
    expect(new Set(kinds)).toContain("credit_exceeded");
  });

  it("refuses a turn without a trace, so that it can be reported again", async () => {
    const both = [costing("a", 101), costing("a", 101)].map((turn) => ledger.recordTurn(turn, 0, terms));
    expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(["credit_exceeded", "credit_exceeded"]);
    expect(await ledger.listChargesOf({ turnId: "a" })).toEqual([]);
    expect(await ledger.recordTurn(costing("a", 100), 0, terms)).toMatchObject({ kind: "recorded" });
    expect(await ledger.recordTurn(costing("a", 100), 0, terms)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.readTotals()).toMatchObject({ accrued: 100n });
  });

  it("is not used by what is waived", async () => {
    const failed = turnOf("f", { outcome: "failed", modelCost: usdc(1) });
    expect(await ledger.recordTurn(failed, 0, terms)).toMatchObject({ kind: "recorded" });
  });

  it("is not needed for what is prepaid, unless something of it was taken since it was read", async () => {
    const prepaid = (atBlock: bigint) => ({ credit, prepaid: { amount: 50n, atBlock } });
    expect(await ledger.recordTurn(costing("a", 150), 0, prepaid(0n))).toMatchObject({ kind: "recorded" });
    expect(await hold("c", "s", 1, 50n)).toMatchObject({ kind: "credit_exceeded", exposure: 101n });
    const batchId = await submitted(ledger, lease, [ALICE], 0);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf());
    expect(await ledger.recordTurn(costing("b", 150), 0, prepaid(6n))).toMatchObject({
      kind: "credit_exceeded",
      takenAtBlock: 7n,
    });
    expect(await ledger.recordTurn(costing("b", 150), 0, prepaid(7n))).toMatchObject({ kind: "recorded" });
  });

  it("comes back with what is taken on chain, and grows with what is final", async () => {
    await ledger.recordTurn(costing("a", 100), 0, terms);
    const batchId = await submitted(ledger, lease, [ALICE], 0);
    expect(await hold("c", "s", 1)).toMatchObject({ kind: "credit_exceeded" });
    await ledger.recordInclusion(lease, batchId, inclusionAt(0n), "success", outcomeOf());
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ pending: 0n, settled: 0n }]);
    expect(await hold("c", "s", 101)).toMatchObject({ kind: "credit_exceeded", limit: 100n });
    await ledger.finalize(lease, batchId, outcomeOf(), RETRY, 1);
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ settled: 100n }]);
    expect(await hold("c", "s", 110)).toMatchObject({ kind: "held" });
  });

  it("does not grow with what the platform paid, nor with what the chain undid", async () => {
    await ledger.recordTurn(costing("a", 100), 0);
    const failed = outcomeOf({ failed: [{ chargedTo: ALICE, amount: usdc(100), reason: "balance" }] });
    const first = await submitted(ledger, lease, [ALICE], 0);
    await ledger.recordInclusion(lease, first, inclusionAt(1n), "success", failed);
    await ledger.finalize(lease, first, failed, { ...RETRY, maxAttempts: 1 }, 1);
    const absorbed = await settled(ledger, lease, [RETRY.insurance], outcomeOf(), 2);
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ debt: 100n, settled: 0n }]);

    await ledger.recordTurn(costing("b", 50), 3);
    const batchId = await settled(ledger, lease, [ALICE], outcomeOf(), 3);
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ settled: 50n }]);
    await ledger.reopen(batchId, 40_000);
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ settled: 0n, pending: 50n }]);
    await ledger.reopen(absorbed, 40_000);
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ settled: 0n }]);
  });

  it("a payer's sessions are flushed together, and only its own", async () => {
    await ledger.openSession({ id: "bob", payer: BOB, maxSpend: usdc(10), expiresAtMs: 1_000_000 }, 0);
    for (const [id, session] of [
      ["c", "s"],
      ["d", "t"],
      ["e", "bob"],
    ] as const) {
      await ledger.hold(call(id, session, 1), RICH, 1);
      await ledger.capture({ callId: id, hashes: HASHES }, POLICY, 2);
    }
    expect(await ledger.hasWaiting(ALICE)).toBe(true);
    expect(await ledger.flushPayer(ALICE, 3)).toBe(2);
    expect(await ledger.hasWaiting(ALICE)).toBe(false);
    expect(await ledger.flushPayer(ALICE, 3)).toBe(0);
    expect(await ledger.listDuePayers(3, 10)).toMatchObject([{ chargedTo: ALICE, amount: 2n, oldestDueAtMs: 3 }]);
    expect(await ledger.hasWaiting(BOB)).toBe(true);
  });

  it("a capture hands its session to settlement once its payer owes half of its credit", async () => {
    const policy = { ...POLICY, credit };
    for (const [id, session, amount] of [
      ["c", "s", 30],
      ["d", "t", 19],
      ["e", "t", 1],
    ] as const) {
      await ledger.hold(call(id, session, amount), RICH, 1);
      await ledger.capture({ callId: id, hashes: HASHES }, policy, 2);
      if (id === "d") expect(await ledger.listDuePayers(2, 10)).toEqual([]);
    }
    expect(await ledger.findSession("t")).toMatchObject({ pendingAccruedCount: 0 });
    expect(await ledger.findSession("s")).toMatchObject({ pendingAccruedCount: 1 });
    expect(await ledger.listDuePayers(2, 10)).toMatchObject([{ chargedTo: ALICE, oldestDueAtMs: 2 }]);
  });
});

describe("credit with two daemons on one PostgreSQL", () => {
  it("is not overrun by turns and calls of both at the same time", async () => {
    const store = await createPostgresLedger();
    try {
      const ledgers = [await store.open(), await store.open()];
      for (const id of ["s", "t"]) {
        await ledgers[0]?.openSession({ id, payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }, 0);
      }
      const answers = await Promise.all(
        ledgers.flatMap((ledger, daemon) =>
          Array.from({ length: 60 }, (_, i) =>
            i % 2 === 0
              ? ledger.recordTurn(costing(`${daemon} ${i}`, 3), 0, terms)
              : ledger.hold(call(`${daemon} ${i}`, daemon === 0 ? "s" : "t", 3), RICH, 1, credit),
          ),
        ),
      );
      expect(answers.filter(({ kind }) => kind === "recorded" || kind === "held")).toHaveLength(33);
      expect(await ledgers[0]?.audit()).toEqual([]);
    } finally {
      await store.remove();
    }
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BudgetOnChain, hashTools } from "../../domain/payer/budget.ts";
import type { CreditPolicy } from "../../domain/payer/credit.ts";
import type { Ledger } from "../ledger.ts";
import { createPostgresLedger, ledgers, type Store } from "../testing/backends.ts";
import { ALICE, BOB, RICH, toolOf, turnOf, usdc } from "../testing/fixtures.ts";

const credit: CreditPolicy = { base: usdc(100), growthBps: 0, max: usdc(0) };
const terms = { credit, prepaid: null };
const NEW: BudgetOnChain = {
  ...{ maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt: 0n },
  toolsHash: hashTools([]),
};
const costing = (id: string, amount: number, fields = {}) =>
  turnOf(id, { modelCost: usdc(amount), tools: [], ...fields });

describe.each(ledgers)("what is held for a question, on $name,", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }, 0);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  const ask = (turnId: string, amount: number, { payer = ALICE, budgetId = null as bigint | null, nowMs = 1 } = {}) =>
    ledger.holdTurn({ turnId, payer, amount: usdc(amount), budgetId }, { ...RICH, budget: NEW }, nowMs, credit);
  const call = (callId: string, amount: number) =>
    ledger.hold(
      { callId, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(amount) },
      { ...RICH, budget: NEW },
      1,
      credit,
    );
  const exposure = async () => {
    const [{ pending, held } = {}] = await ledger.readExposures([ALICE]);
    return { pending, held };
  };

  it("is beyond the reach of calls and of other questions, to the last unit", async () => {
    expect(await ask("a", 60)).toEqual({ kind: "held" });
    expect(await call("c", 41)).toMatchObject({ kind: "credit_exceeded", exposure: 101n });
    expect(await call("c", 30)).toMatchObject({ kind: "held" });
    expect(await ask("b", 11)).toMatchObject({ kind: "credit_exceeded", exposure: 101n, limit: 100n });
    expect(await ledger.recordTurn(costing("b", 11), 1, terms)).toMatchObject({ kind: "credit_exceeded" });
    expect(await ask("b", 10)).toEqual({ kind: "held" });
    expect(await ask("bob's", 100, { payer: BOB })).toEqual({ kind: "held" });
    expect(await exposure()).toEqual({ pending: 0n, held: 100n });
  });

  it("is not overrun by questions and calls that share a commit", async () => {
    const asked = Array.from({ length: 20 }, (_, i) => ask(`${i}`, 7));
    const called = Array.from({ length: 20 }, (_, i) => call(`${i}`, 7));
    const kinds = (await Promise.all([...asked, ...called])).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "held")).toHaveLength(14);
  });

  it("becomes what the turn costs, and the rest is free again", async () => {
    await ask("a", 60);
    await call("c", 40);
    expect(await ledger.recordTurn(costing("a", 45), 2, terms)).toMatchObject({ kind: "recorded" });
    expect(await exposure()).toEqual({ pending: 45n, held: 40n });
    expect(await ledger.recordTurn(costing("a", 45), 2, terms)).toMatchObject({ kind: "duplicate" });
    expect(await call("d", 16)).toMatchObject({ kind: "credit_exceeded" });
    expect(await call("d", 15)).toMatchObject({ kind: "held" });
    expect(await ledger.findTurnHold("a")).toBeNull();
  });

  it("covers its turn even if its payer has no credit left by then", async () => {
    await ask("a", 60);
    const none = { credit: { ...credit, base: usdc(1) }, prepaid: null };
    expect(await ledger.recordTurn(costing("b", 1), 2, none)).toMatchObject({ kind: "credit_exceeded" });
    expect(await ledger.recordTurn(costing("a", 60), 2, none)).toMatchObject({ kind: "recorded" });
  });

  it("is asked about again only for what its turn costs above it", async () => {
    await ask("a", 60);
    await call("c", 30);
    expect(await ledger.recordTurn(costing("a", 71), 2, terms)).toMatchObject({
      kind: "credit_exceeded",
      exposure: 101n,
    });
    // What was refused is as it was.
    expect(await exposure()).toEqual({ pending: 0n, held: 90n });
    expect(await ledger.recordTurn(costing("a", 70), 2, terms)).toMatchObject({ kind: "recorded" });
    expect(await exposure()).toEqual({ pending: 70n, held: 30n });
  });

  it("is of a budget as well, whatever else draws on that meanwhile", async () => {
    const signature = `0x${"1".padStart(130, "0")}` as const;
    const signed = { payer: ALICE, id: 7n, maxSpend: usdc(50), validUntil: 1_000n, tools: [], signature };
    await ledger.keepBudget(signed, 0);
    const bySession = { id: "b", payer: ALICE, maxSpend: usdc(1_000), budgetId: 7n, expiresAtMs: 1_000_000 };
    await ledger.openSession(bySession, 0);
    const bought = (callId: string, amount: number) =>
      ledger.hold(
        { callId, sessionId: "b", toolId: toolOf(1), method: "m", amount: usdc(amount) },
        { ...RICH, budget: NEW },
        1,
      );
    expect(await ask("a", 51, { budgetId: 7n })).toEqual({ kind: "unaffordable" });
    expect(await ask("a", 40, { budgetId: 7n })).toEqual({ kind: "held" });
    expect(await bought("c", 11)).toEqual({ kind: "unaffordable" });
    expect(await bought("c", 10)).toMatchObject({ kind: "held" });
    const record = (id: string, amount: number, nowMs: number, onChain = NEW) =>
      ledger.recordTurn(costing(id, amount, { budgetId: 7n }), nowMs, terms, onChain);
    expect(await record("other", 1, 2)).toMatchObject({ kind: "budget_refused", reason: "budget_exceeded" });
    expect(await record("a", 41, 2)).toMatchObject({ kind: "budget_refused", reason: "budget_exceeded" });
    // It was agreed to in time, and its payer has ended the budget since.
    expect(await record("a", 40, 2_000_000, { ...NEW, endsAt: 1n })).toMatchObject({ kind: "recorded" });
    expect(await ledger.findBudget({ payer: ALICE, id: 7n })).toMatchObject({ held: 10n, pending: 40n });
  });

  it("is no consent to a tool that the budget is not for", async () => {
    const signature = `0x${"2".padStart(130, "0")}` as const;
    const tools = [toolOf(1)];
    await ledger.keepBudget({ payer: ALICE, id: 8n, maxSpend: usdc(50), validUntil: 1_000n, tools, signature }, 0);
    await ask("a", 40, { budgetId: 8n });
    const record = (tool: number) =>
      ledger.recordTurn(
        turnOf("a", {
          budgetId: 8n,
          modelCost: usdc(0),
          tools: [{ toolId: toolOf(tool), amount: usdc(40), calls: 1 }],
        }),
        2,
        terms,
        NEW,
      );
    expect(await record(2)).toMatchObject({ kind: "budget_refused", reason: "budget_tools" });
    expect(await record(1)).toMatchObject({ kind: "recorded" });
  });

  it("is free again when nothing is owed, once", async () => {
    await ask("a", 60);
    expect(await ledger.voidTurn("a", BOB)).toEqual({ kind: "duplicate" });
    expect(await ledger.voidTurn("a", ALICE)).toEqual({ kind: "voided" });
    expect(await ledger.voidTurn("a", ALICE)).toEqual({ kind: "duplicate" });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    // Whoever reports it all the same is asked as if nothing had been held.
    expect(await call("c", 50)).toMatchObject({ kind: "held" });
    expect(await ledger.recordTurn(costing("a", 60), 1, terms)).toMatchObject({ kind: "credit_exceeded" });
  });

  it("is the same when it is asked for again, and another under the same id is a conflict", async () => {
    await ask("a", 60);
    expect(await ask("a", 60)).toEqual({ kind: "duplicate" });
    expect(await ask("a", 61)).toEqual({ kind: "conflict" });
    expect(await ask("a", 60, { payer: BOB })).toEqual({ kind: "conflict" });
    expect(await exposure()).toEqual({ pending: 0n, held: 60n });
  });

  it("is given back when nobody has been heard of for too long, and asking again is being heard of", async () => {
    await ask("old", 10, { nowMs: 1 });
    await ask("renewed", 20, { nowMs: 1 });
    await ask("renewed", 20, { nowMs: 50 });
    expect(await ledger.sweepTurnHolds(30, 31, 10)).toBe(1);
    expect(await exposure()).toEqual({ pending: 0n, held: 20n });
    expect(await ledger.sweepTurnHolds(30, 79, 10)).toBe(0);
    await ask("bob's", 5, { payer: BOB, nowMs: 50 });
    expect(await ledger.sweepTurnHolds(30, 80, 1)).toBe(1);
    expect(await ledger.sweepTurnHolds(30, 80, 10)).toBe(1);
    expect(await ledger.sweepTurnHolds(30, 80, 10)).toBe(0);
  });

  it("is given back in time if the clock that it was held by was far ahead", async () => {
    await ask("ahead", 10, { nowMs: 1_000_000 });
    await ask("a little ahead", 20, { nowMs: 130 });
    expect(await ledger.sweepTurnHolds(30, 100, 10)).toBe(0);
    expect(await ledger.sweepTurnHolds(30, 129, 10)).toBe(0);
    expect(await ledger.sweepTurnHolds(30, 130, 10)).toBe(1);
    expect(await exposure()).toEqual({ pending: 0n, held: 20n });
    expect(await ledger.sweepTurnHolds(30, 160, 10)).toBe(1);
  });

  it("knows what else the payer owes only from what the chain said since something was taken", async () => {
    expect(
      await ledger.holdTurn({ turnId: "a", payer: ALICE, amount: usdc(1), budgetId: null }, null, 1, credit),
    ).toEqual({ kind: "outdated", takenAtBlock: 0n });
    expect(
      await ledger.holdTurn(
        { turnId: "a", payer: ALICE, amount: usdc(10), budgetId: null },
        { amount: 9n, atBlock: 0n },
        1,
        credit,
      ),
    ).toEqual({ kind: "unaffordable" });
  });

  it("is nothing for what may cost nothing", async () => {
    await expect(ask("a", 0)).rejects.toThrow("needs no hold");
  });
});

describe("what is held for a question, with two daemons,", () => {
  it("is given to one of them", async () => {
    const store = await createPostgresLedger();
    try {
      const [one, two] = [await store.open(), await store.open()];
      const asked = Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? one : two).holdTurn(
          { turnId: `${i}`, payer: ALICE, amount: usdc(30), budgetId: null },
          RICH,
          1,
          credit,
        ),
      );
      expect((await Promise.all(asked)).filter(({ kind }) => kind === "held")).toHaveLength(3);
      const voids = await Promise.all(
        Array.from({ length: 20 }, (_, i) => [one.voidTurn(`${i}`, ALICE), two.voidTurn(`${i}`, ALICE)]).flat(),
      );
      expect(voids.filter(({ kind }) => kind === "voided")).toHaveLength(3);
      expect(await one.audit()).toEqual([]);
    } finally {
      await store.remove();
    }
  });
});

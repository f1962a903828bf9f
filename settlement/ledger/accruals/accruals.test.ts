import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chargeIdOf } from "../../domain/charges/charge.ts";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import { ALICE, BOB, leaseOf, OPERATOR, outcomeOf, settled, toolOf, turnOf, usdc } from "../testing/fixtures.ts";

describe.each(ledgers)("accruals on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  it("a delivered turn is one charge per tool and one for the model", async () => {
    const tools = [
      { toolId: toolOf(2), amount: usdc(50), calls: 1 },
      { toolId: toolOf(1), amount: usdc(70), calls: 99 },
    ];
    const answer = await ledger.recordTurn(turnOf("t", { tools, modelCost: usdc(5) }), 10);
    const charges = await ledger.listChargesOf({ turnId: "t" });
    expect(answer).toEqual({ kind: "recorded", chargeIds: expect.arrayContaining(charges.map(({ id }) => id)) });
    expect(charges.map(({ amount }) => amount).sort()).toEqual([5n, 50n, 70n]);
    expect(charges.every(({ state }) => state.kind === "accrued" && state.dueAtMs === 10)).toBe(true);
    expect(await ledger.readExposures([ALICE])).toEqual([
      { payer: ALICE, pending: 125n, held: 0n, owed: 0n, debt: 0n, settled: 0n, takenAtBlock: 0n },
    ]);
  });

  it("the same turn again is a duplicate, even with its tools in another order and addresses in another case", async () => {
    const tools = [1, 2].map((n) => ({ toolId: toolOf(n), amount: usdc(n), calls: 1 }));
    const first = await ledger.recordTurn(turnOf("t", { tools }), 0);
    const payer = `0x${ALICE.slice(2).toUpperCase()}` as const;
    const again = await ledger.recordTurn(turnOf("t", { tools: tools.toReversed(), payer }), 5);
    expect(again).toEqual({ ...first, kind: "duplicate" });
    expect(await ledger.readTotals()).toMatchObject({ accrued: 20_003n, pending: 20_003n });
  });

  it.each([
    { payer: BOB },
    { outcome: "failed" as const },
    { modelCost: usdc(1) },
    { tools: [{ toolId: toolOf(1), amount: usdc(100_000), calls: 2 }] },
    { requestHash: turnOf("").responseHash },
    { tools: [{ toolId: toolOf(1), amount: usdc(100_000), calls: 3, schemaHash: turnOf("").responseHash }] },
  ])("the same id with other contents (%o) is a conflict and changes nothing", async (change) => {
    await ledger.recordTurn(turnOf("t"), 0);
    const before = await ledger.readTotals();
    expect(await ledger.recordTurn(turnOf("t", change), 0)).toEqual({ kind: "conflict" });
    expect(await ledger.readTotals()).toEqual(before);
    expect(await ledger.readExposures([BOB])).toMatchObject([{ pending: 0n }]);
  });

  it("many turns are recorded in one commit, each with an outcome of its own, in the order in which they were reported", async () => {
    await ledger.recordTurn(turnOf("known"), 0);
    const terms = { credit: { base: usdc(300_000), growthBps: 0, max: usdc(300_000) }, prepaid: null };
    const listed = [
      turnOf("z"),
      turnOf("known"),
      turnOf("a", { payer: BOB }),
      turnOf("known", { payer: BOB }),
      turnOf("z"),
      turnOf("b", { modelCost: usdc(1_000_000) }),
    ];
    const outcomes = await ledger.recordTurns(
      listed.map((turn) => ({ turn, terms })),
      1,
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "recorded",
      "duplicate",
      "recorded",
      "conflict",
      "duplicate",
      "credit_exceeded",
    ]);
    expect(await ledger.listChargesOf({ turnId: "b" })).toEqual([]);
    expect(await ledger.audit()).toEqual([]);
  });

  it("a failed turn waives its tools' fees and keeps the model cost", async () => {
    await ledger.recordTurn(turnOf("t", { outcome: "failed" }), 0);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 120_000n, pending: 20_000n, voided: 100_000n });
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ pending: 20_000n }]);
  });

  it("nothing is charged for zero", async () => {
    const answer = await ledger.recordTurn(turnOf("t", { modelCost: usdc(0) }), 0);
    expect(answer).toEqual({
      kind: "recorded",
      chargeIds: [chargeIdOf({ kind: "turn", turnId: "t" }, { kind: "tool", toolId: toolOf(1), calls: 3 })],
    });
    expect(await ledger.recordTurn(turnOf("free", { modelCost: usdc(0), tools: [] }), 0)).toEqual({
      kind: "recorded",
      chargeIds: [],
    });
    expect(await ledger.listChargesOf({ turnId: "free" })).toEqual([]);
  });

  it.each([
    { id: "" },
    { payer: "0x12" as const },
    { modelCost: -1n as never },
    { modelCost: (2n ** 48n) as never },
    { tools: [{ toolId: toolOf(1), amount: usdc(1), calls: 101 }] },
    { tools: [1, 1].map((n) => ({ toolId: toolOf(n), amount: usdc(1), calls: 1 })) },
    { requestHash: "0x" as const },
  ])("a turn that makes no sense (%o) is refused before it is queued", async (change) => {
    await expect(ledger.recordTurn(turnOf("t", change), 0)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("of a hundred deliveries of one turn at once, one is recorded", async () => {
    // At different moments: a charge's moment is part of its key, so that the table alone would take it twice.
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ledger.recordTurn(turnOf("t"), i)));
    expect(answers.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "duplicate")).toHaveLength(99);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 120_000n });
  });

  it("exposures come in the order and the spelling of the question, unknown payers with nothing", async () => {
    await ledger.recordTurn(turnOf("t"), 0);
    const shouted = `0x${ALICE.slice(2).toUpperCase()}` as const;
    expect(await ledger.readExposures([BOB, shouted, ALICE])).toEqual([
      { payer: BOB, pending: 0n, held: 0n, owed: 0n, debt: 0n, settled: 0n, takenAtBlock: 0n },
      { payer: shouted, pending: 120_000n, held: 0n, owed: 0n, debt: 0n, settled: 0n, takenAtBlock: 0n },
      { payer: ALICE, pending: 120_000n, held: 0n, owed: 0n, debt: 0n, settled: 0n, takenAtBlock: 0n },
    ]);
  });

  it("what was acknowledged is there after the ledger is opened again", async () => {
    await ledger.recordTurn(turnOf("t"), 0);
    await ledger.close();
    const again = await store.open();
    expect(await again.recordTurn(turnOf("t"), 0)).toMatchObject({ kind: "duplicate" });
    expect(await again.audit()).toEqual([]);
  });

  it("what a tool was charged and an account paid adds up over final charges only", async () => {
    const lease = await leaseOf(ledger, OPERATOR);
    await ledger.recordTurn(turnOf("t"), 0);
    await settled(ledger, lease, [ALICE], outcomeOf(), 0);
    await ledger.recordTurn(turnOf("u", { payer: BOB }), 0);
    expect(await ledger.readSettledByTool()).toEqual([{ toolId: toolOf(1), amount: 100_000n }]);
    expect(await ledger.readSettledByAccount()).toEqual([{ account: ALICE, amount: 120_000n }]);
  });
});

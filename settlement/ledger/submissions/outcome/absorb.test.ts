import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lease, Ledger, RetryPolicy } from "../../ledger.ts";
import { createPostgresLedger, ledgers, type Store } from "../../testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  INSURANCE,
  inclusionAt,
  leaseOf,
  netOf,
  outcomeOf,
  planned,
  RETRY,
  ROUTER,
  settled,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../../testing/fixtures.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// For each tool 100, and the first failure is the last.
const retry: RetryPolicy = { ...RETRY, maxAttempts: 1, absorbable: () => 100n, owedRetryMs: DAY_MS };
const using = (id: string, tools: readonly (readonly [number, number])[], payer = ALICE, modelCost = 0) =>
  turnOf(id, {
    payer,
    modelCost: usdc(modelCost),
    tools: tools.map(([tool, amount]) => ({ toolId: toolOf(tool), amount: usdc(amount), calls: 1 })),
  });

describe.each(ledgers)("what the platform absorbs on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    const { accrued, pending, settled, absorbed, refused, voided } = await ledger.readTotals();
    expect(pending + settled + absorbed + refused + voided).toBe(accrued);
    await store.remove();
  });

  const plan = (atMs: number, terms = retry, accounts = [ALICE, BOB]) =>
    ledger.planBatch(
      lease,
      { accounts, maxCharges: 100, router: ROUTER, net: netOf(() => "balance"), retry: terms },
      atMs,
    );
  const statesOf = async (turnId: string) =>
    (await ledger.listChargesOf({ turnId })).map(({ state, chargedTo }) =>
      state.kind === "accrued" && chargedTo === INSURANCE ? "absorbed" : state.kind,
    );
  const exposureOf = async (payer = ALICE) => (await ledger.readExposures([payer]))[0];

  it("is bounded for each tool, and what is above that is owed by the payer", async () => {
    await ledger.recordTurn(
      using("a", [
        [1, 60],
        [2, 100],
      ]),
      0,
    );
    await ledger.recordTurn(using("b", [[1, 41]], BOB), 1);
    await plan(2);
    expect(await statesOf("a")).toEqual(["absorbed", "absorbed"]);
    expect(await statesOf("b")).toEqual(["owed"]);
    expect(await exposureOf()).toMatchObject({ pending: 0n, owed: 0n, debt: 160n });
    expect(await exposureOf(BOB)).toMatchObject({ pending: 41n, owed: 41n, debt: 0n });
    // What is smaller still fits.
    await ledger.recordTurn(using("c", [[1, 40]], BOB), 3);
    await plan(4);
    expect(await statesOf("c")).toEqual(["absorbed"]);
  });

  it("is bounded in any 24 hours, wherever they begin", async () => {
    const absorbedAt: number[] = [];
    for (let hour = 1; hour <= 100; hour++) {
      await ledger.recordTurn(using(`${hour}`, [[1, 50]]), hour * HOUR_MS);
      await plan(hour * HOUR_MS);
      if ((await statesOf(`${hour}`))[0] === "absorbed") absorbedAt.push(hour);
    }
    expect(absorbedAt.length).toBeGreaterThanOrEqual(6);
    for (const hour of absorbedAt) {
      expect(absorbedAt.filter((other) => other > hour - 24 && other <= hour).length).toBeLessThanOrEqual(2);
    }
  });

  it("is the model's whole cost, which goes from one account of the platform to another", async () => {
    await ledger.recordTurn(using("a", [[1, 500]], ALICE, 5_000), 0);
    await plan(1);
    expect((await statesOf("a")).toSorted()).toEqual(["absorbed", "owed"]);
    expect(await exposureOf()).toMatchObject({ owed: 500n, debt: 5_000n });
  });

  it("is nothing for a tool without a stake, and undecided for one whose stake is not known", async () => {
    await ledger.recordTurn(using("a", [[1, 1]]), 0);
    await plan(1, { ...retry, absorbable: () => undefined });
    expect(await ledger.listChargesOf({ turnId: "a" })).toMatchObject([{ attempts: 1, state: { kind: "accrued" } }]);
    await plan(10_000, { ...retry, absorbable: () => 0n });
    expect(await statesOf("a")).toEqual(["owed"]);
  });

  it("what is owed is tried again, never absorbed later, and counted once as failed", async () => {
    await ledger.recordTurn(using("a", [[1, 500]]), 0);
    await plan(1);
    for (const day of [1, 2, 3]) await plan(1 + day * DAY_MS, { ...retry, absorbable: () => 10_000n });
    const [charge] = await ledger.listChargesOf({ turnId: "a" });
    expect(charge).toMatchObject({ chargedTo: ALICE, attempts: 4, state: { kind: "owed", dueAtMs: 1 + 4 * DAY_MS } });
    expect(await ledger.listFailures(charge?.id ?? "0x")).toHaveLength(1);
    expect(await exposureOf()).toMatchObject({ pending: 500n, owed: 500n });
  });

  it("what is owed is due as soon as the payer can pay, and then paid like anything else", async () => {
    await ledger.recordTurn(using("a", [[1, 500]]), 0);
    await ledger.recordTurn(using("b", [[1, 500]], BOB), 0);
    await plan(1);
    expect((await ledger.listOwing(null, 10)).map(({ payer }) => payer)).toEqual([BOB, ALICE].toSorted());
    expect(await ledger.listDuePayers(2, 10)).toEqual([]);
    await ledger.collect([ALICE], 2);
    expect(await ledger.listDuePayers(2, 10)).toMatchObject([{ chargedTo: ALICE, amount: 500n }]);

    const batchId = await submitted(ledger, lease, [ALICE], 2);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf());
    expect(await exposureOf()).toMatchObject({ pending: 0n, owed: 0n });
    // A reorg makes it owed again.
    await ledger.recordLoss(lease, batchId);
    expect(await exposureOf()).toMatchObject({ pending: 500n, owed: 500n });
    await ledger.recordInclusion(lease, batchId, inclusionAt(8n), "success", outcomeOf());
    await ledger.finalize(lease, batchId, outcomeOf(), retry, 3);
    expect(await statesOf("a")).toEqual(["final"]);
    expect(await exposureOf()).toMatchObject({ pending: 0n, owed: 0n, settled: 500n });
    expect((await ledger.listOwing(null, 10)).map(({ payer }) => payer)).toEqual([BOB]);
    expect(await ledger.readTotals()).toMatchObject({ settled: 500n, absorbed: 0n });
  });

  it("is paid by another insurance account once that has taken the place of one that could not, and is absorbed once", async () => {
    const successor = accountOf(77);
    await ledger.recordTurn(using("a", [[1, 60]], ALICE, 5), 0);
    await plan(1);
    const fallen = { ...retry, insurance: successor };
    // The old account has no money either.
    await plan(10_000, fallen, [INSURANCE]);
    const charges = await ledger.listChargesOf({ turnId: "a" });
    expect(charges.map(({ chargedTo, state }) => [chargedTo, state.kind])).toEqual([
      [successor, "accrued"],
      [successor, "accrued"],
    ]);
    expect(await exposureOf()).toMatchObject({ pending: 0n, owed: 0n, debt: 65n });
    // Of what may be absorbed for the tool in a day the same 60 were taken once.
    await ledger.recordTurn(using("b", [[1, 40]], BOB), 10_001);
    await plan(10_002, fallen, [BOB]);
    expect(await exposureOf(BOB)).toMatchObject({ pending: 0n, owed: 0n, debt: 40n });
    await settled(ledger, lease, [successor], outcomeOf(), 10 * DAY_MS);
    expect(await ledger.readTotals()).toMatchObject({ absorbed: 105n, pending: 0n });
  });

  it("a row that fails on chain is bounded in the same way", async () => {
    await ledger.recordTurn(
      using("a", [
        [1, 70],
        [2, 70],
      ]),
      0,
    );
    await ledger.recordTurn(using("b", [[1, 70]], BOB), 0);
    const failed = [ALICE, BOB].map((chargedTo) => ({ chargedTo, amount: usdc(70), reason: "balance" as const }));
    const batchId = await submitted(ledger, lease, [ALICE, BOB], 1);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf({ failed }));
    await ledger.finalize(lease, batchId, outcomeOf({ failed }), retry, 2);
    const all = [...(await statesOf("a")), ...(await statesOf("b"))];
    expect(all.toSorted()).toEqual(["absorbed", "absorbed", "owed"]);
  });

  it("what a tool may not earn today is owed as before, due tomorrow, and uses up no attempt", async () => {
    await ledger.recordTurn(
      using("a", [
        [1, 70],
        [2, 30],
      ]),
      0,
    );
    const refused = [{ chargedTo: ALICE, toolId: toolOf(1), amount: usdc(70), reason: "earning_cap" as const }];
    const outcome = outcomeOf({ refused });
    const batchId = await submitted(ledger, lease, [ALICE], 1);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcome);
    expect(await exposureOf()).toMatchObject({ pending: 70n });
    await ledger.finalize(lease, batchId, outcome, RETRY, 2);
    expect(await exposureOf()).toMatchObject({ pending: 70n, settled: 30n });
    const waiting = (await ledger.listChargesOf({ turnId: "a" })).find(({ amount }) => amount === 70n);
    expect(waiting).toMatchObject({
      chargedTo: ALICE,
      attempts: 1,
      deferrals: 1,
      state: { kind: "accrued", dueAtMs: 2 + DAY_MS },
    });

    // The same charge makes another batch, and the payer has all its attempts.
    const next = await submitted(ledger, lease, [ALICE], 2 + DAY_MS);
    expect(next).not.toBe(batchId);
    const failed = [{ chargedTo: ALICE, amount: usdc(70), reason: "balance" as const }];
    await ledger.recordInclusion(lease, next, inclusionAt(8n), "success", outcomeOf({ failed }));
    await ledger.finalize(lease, next, outcomeOf({ failed }), { ...RETRY, maxAttempts: 2 }, 3 + DAY_MS);
    expect((await statesOf("a")).toSorted()).toEqual(["accrued", "final"]);
    await settled(ledger, lease, [ALICE], outcomeOf(), 3 + 2 * DAY_MS);
    expect(await ledger.readTotals()).toMatchObject({ settled: 100n, pending: 0n, refused: 0n });
  });
});

describe("what two daemons on one PostgreSQL absorb", () => {
  it("is within the bound together", async () => {
    const store = await createPostgresLedger();
    try {
      const [one, two] = [await store.open(), await store.open()];
      const payers = Array.from({ length: 20 }, (_, i) => accountOf(i + 1));
      for (const [i, payer] of payers.entries()) await one.recordTurn(using(`${i}`, [[1, 15]], payer), 0);
      const leases = [await leaseOf(one, accountOf(501), "one"), await leaseOf(two, accountOf(502), "two")] as const;
      const net = netOf(() => "balance");
      const fail = async (ledger: Ledger, own: Lease) => {
        for (const payer of payers) {
          await ledger.planBatch(own, { accounts: [payer], maxCharges: 1, router: ROUTER, net, retry }, 1);
        }
      };
      await Promise.all([fail(one, leases[0]), fail(two, leases[1])]);
      const exposures = await one.readExposures(payers);
      expect(exposures.reduce((sum, { debt }) => sum + debt, 0n)).toBe(90n);
      expect(exposures.reduce((sum, { owed }) => sum + owed, 0n)).toBe(210n);
      expect(await one.audit()).toEqual([]);
      expect(await planned(one, leases[0], payers, 2)).toBeNull();
    } finally {
      await store.remove();
    }
  });
});

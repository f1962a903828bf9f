import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FoundBatch, Ledger, TakenLine } from "../../ledger.ts";
import { ledgers, type Store } from "../../testing/backends.ts";
import {
  ALICE,
  HASHES,
  hashOf,
  inclusionAt,
  leaseOf,
  OPERATOR,
  outcomeOf,
  POLICY,
  planned,
  RICH,
  ROUTER,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../../testing/fixtures.ts";

const TOOL = toolOf(1);

// Batches of our keys that the chain has and the ledger does not: it was restored from an older copy, or robbed.
describe.each(ledgers)("a batch that is taken in on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  // A turn of one tool and nothing else.
  const deliver = (id: string, amount: number, atMs: number) =>
    ledger.recordTurn(
      turnOf(id, { modelCost: usdc(0), tools: [{ toolId: TOOL, amount: usdc(amount), calls: 1 }] }),
      atMs,
    );
  const found = (name: string, taken: readonly TakenLine[]): FoundBatch => ({
    batchId: hashOf(name),
    operator: OPERATOR,
    router: ROUTER,
    calldata: "0x01",
    rows: 1,
    inclusion: inclusionAt(5n),
    outcome: outcomeOf({ charged: usdc(taken.reduce((sum, { amount }) => sum + amount, 0n)) }),
    taken,
    otherRows: false,
  });
  const took = (amount: number): TakenLine => ({ chargedTo: ALICE, toolId: TOOL, amount: usdc(amount) });
  const stateOf = async (turnId: string) => (await ledger.listChargesOf({ turnId }))[0]?.state.kind;
  const pending = async () => (await ledger.readExposures([ALICE]))[0]?.pending;

  it("has paid the oldest charges of its accounts and tools, and they are charged no more", async () => {
    for (const [i, id] of ["a", "b", "c"].entries()) await deliver(id, 100, i + 1);
    await leaseOf(ledger);
    expect(await ledger.adoptBatch(found("lost", [took(200)]), 10)).toEqual({
      kind: "adopted",
      charges: 2,
      unexplained: 0n,
    });
    expect([await stateOf("a"), await stateOf("b"), await stateOf("c")]).toEqual(["final", "final", "accrued"]);
    expect(await pending()).toBe(100n);
    expect(await ledger.adoptBatch(found("lost", [took(200)]), 11)).toEqual({ kind: "known" });
  });

  it("pays what is reported later before anybody is charged again", async () => {
    expect(await ledger.adoptBatch(found("lost", [took(100)]), 10)).toMatchObject({ unexplained: 100n });
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 1, 0);
    await ledger.removeFence(lease, 1);
    await deliver("reported again", 100, 20);
    await deliver("new", 30, 21);
    const submission = await planned(ledger, lease, [ALICE], 30);
    expect(submission).not.toBeNull();
    expect([await stateOf("reported again"), await stateOf("new")]).toEqual(["final", "batched"]);
  });

  it("has paid a part of a charge: the rest is owed, and nobody pays for more than was delivered", async () => {
    await deliver("a", 60, 1);
    await deliver("b", 100, 2);
    expect(await ledger.adoptBatch(found("lost", [took(100)]), 10)).toMatchObject({ charges: 2, unexplained: 0n });
    expect([await stateOf("a"), await stateOf("b")]).toEqual(["final", "accrued"]);
    expect((await ledger.listChargesOf({ turnId: "b" }))[0]?.amount).toBe(60n);
    expect(await pending()).toBe(60n);
    const { charged } = await ledger.readFinalBatches();
    expect(charged).toBe(100n);
    // Both parts are shown.
    const statement = await ledger.listChargesOfPayer(ALICE, { fromMs: 0, toMs: 100, after: null, limit: 10 });
    expect(statement.map(({ amount, state }) => [amount, state.kind]).sort()).toEqual([
      [40n, "final"],
      [60n, "accrued"],
      [60n, "final"],
    ]);
  });

  it("takes a millionth of a dollar again and again, and no more than that is paid", async () => {
    await deliver("a", 100, 1);
    for (let n = 0; n < 5; n++) await ledger.adoptBatch(found(`theft ${n}`, [took(1)]), 10 + n);
    expect(await pending()).toBe(95n);
    expect((await ledger.listChargesOf({ turnId: "a" }))[0]).toMatchObject({ amount: 95n, state: { kind: "accrued" } });
  });

  it("has paid a part of what is planned later: the batch charges the rest", async () => {
    await ledger.adoptBatch(found("lost", [took(30)]), 10);
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 1, 0);
    await ledger.removeFence(lease, 1);
    await deliver("reported again", 100, 20);
    const submission = await planned(ledger, lease, [ALICE], 30);
    expect((await ledger.findBatch(submission?.id ?? "0x"))?.total).toBe(70n);
    expect(await pending()).toBe(70n);
  });

  it("has paid a part of a call that waits in its session: the rest is due, and waits there no longer", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 0);
    await ledger.hold({ callId: "c", sessionId: "s", toolId: TOOL, method: "m", amount: usdc(100) }, RICH, 1);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 2);
    await ledger.adoptBatch(found("lost", [took(30)]), 10);
    expect(await ledger.findSession("s")).toMatchObject({ pendingAccruedCount: 0, pendingAccrued: 0n, spent: 100n });
    expect(await pending()).toBe(70n);
  });

  it("was given up by the ledger: then it pays the charges that were in it", async () => {
    const lease = await leaseOf(ledger);
    await deliver("in it", 50, 2);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    await ledger.abandon(lease, batchId, 4);
    await deliver("older", 50, 1);
    expect(await ledger.adoptBatch({ ...found("", [took(50)]), batchId }, 10)).toMatchObject({ charges: 1 });
    expect([await stateOf("in it"), await stateOf("older")]).toEqual(["final", "accrued"]);
  });

  it("has paid an older charge instead of those that it was made of: these are settled under another root", async () => {
    await deliver("older", 50, 1);
    await deliver("in it", 50, 2);
    const [inIt] = await ledger.listChargesOf({ turnId: "in it" });
    const batchId = hashOf(`${inIt?.id}${ALICE}0`);
    await ledger.adoptBatch({ ...found("", [took(50)]), batchId }, 10);
    expect([await stateOf("older"), await stateOf("in it")]).toEqual(["final", "accrued"]);
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 1, 0);
    await ledger.removeFence(lease, 1);
    expect(await planned(ledger, lease, [ALICE], 30)).toBeNull();
    expect(await pending()).toBe(50n);
    const again = await planned(ledger, lease, [ALICE], 30);
    expect(again?.id).not.toBe(batchId);
    expect((await ledger.listChargesOf({ turnId: "in it" }))[0]).toMatchObject({
      state: { kind: "batched" },
      attempts: 1,
      deferrals: 1,
    });
  });

  it("was not known: then every key is fenced off, because more may be on its way that is not known", async () => {
    const fences = async () => (await ledger.listOperators()).map(({ fence }) => fence);
    const lease = await leaseOf(ledger);
    await deliver("a", 50, 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    await ledger.abandon(lease, batchId, 4);
    await ledger.adoptBatch({ ...found("", [took(50)]), batchId }, 10);
    expect(await fences()).toEqual([0]);
    await ledger.adoptBatch(found("lost", [took(50)]), 11);
    expect(await fences()).toEqual([-1]);
    // What is fenced off already is so as far as it was.
    await ledger.setFence(await leaseOf(ledger), 7, 3);
    await ledger.adoptBatch(found("lost as well", [took(50)]), 12);
    expect(await fences()).toEqual([7]);
  });

  it("may be of a key that the ledger has never heard of", async () => {
    await deliver("a", 100, 1);
    expect(await ledger.adoptBatch(found("lost", [took(100)]), 10)).toMatchObject({ kind: "adopted", charges: 1 });
    expect(await ledger.listOperators()).toMatchObject([{ operator: OPERATOR, holder: null }]);
  });

  it("waits for batches that are on their way", async () => {
    const lease = await leaseOf(ledger);
    await deliver("a", 50, 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    expect(await ledger.adoptBatch(found("lost", [took(50)]), 10)).toEqual({ kind: "busy", batchId });
  });

  it("settles a root that was on its way with other rows: what they paid is paid, and the rest makes another batch", async () => {
    const lease = await leaseOf(ledger);
    for (const [i, id] of ["a", "b"].entries()) await deliver(id, 50 + 10 * i, i + 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    const forged = { ...found("", [took(50)]), batchId };
    expect(await ledger.adoptBatch(forged, 10)).toEqual({ kind: "known" });
    expect(await ledger.adoptBatch({ ...forged, otherRows: true }, 10)).toMatchObject({ charges: 1, unexplained: 0n });
    expect([await stateOf("a"), await stateOf("b")]).toEqual(["final", "accrued"]);
    expect(await pending()).toBe(60n);
    // Whoever was in the middle of sending it changes nothing more.
    await expect(ledger.abandon(lease, batchId, 11)).rejects.toMatchObject({ code: "fenced" });
    expect(await planned(ledger, await leaseOf(ledger), [ALICE], 30)).toMatchObject({ state: { kind: "planned" } });
  });

  it("waits for no batch whose root is lost as well: two of them would wait for each other", async () => {
    const lease = await leaseOf(ledger);
    await deliver("a", 50, 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    expect(await ledger.adoptBatch({ ...found("lost", [took(50)]), lost: [batchId] }, 10)).toMatchObject({
      kind: "adopted",
    });
  });

  it("settles a root that was on its way for somebody else: all of it makes another batch, under another root", async () => {
    const lease = await leaseOf(ledger);
    await deliver("a", 50, 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    const forged = { ...found("", [{ ...took(50), chargedTo: OPERATOR }]), batchId, otherRows: true };
    expect(await ledger.adoptBatch(forged, 10)).toMatchObject({ charges: 0, unexplained: 50n });
    const again = await planned(ledger, await leaseOf(ledger), [ALICE], 30);
    expect(again?.id).not.toBe(batchId);
    expect(again?.state.kind).toBe("planned");
  });

  it("was given up, and its only row failed: then it fails once, and is never taken for a batch to come", async () => {
    const lease = await leaseOf(ledger);
    await deliver("a", 50, 1);
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    await ledger.abandon(lease, batchId, 4);
    const outcome = outcomeOf({
      charged: usdc(0),
      failed: [{ chargedTo: ALICE, amount: usdc(50), reason: "allowance" }],
    });
    await ledger.adoptBatch({ ...found("", []), batchId, outcome }, 10);
    expect(await planned(ledger, await leaseOf(ledger), [ALICE], 30)).toBeNull();
    const [charge] = await ledger.listChargesOf({ turnId: "a" });
    expect(charge).toMatchObject({ attempts: 1, state: { kind: "accrued" } });
  });
});

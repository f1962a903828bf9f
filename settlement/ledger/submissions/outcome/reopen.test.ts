import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashTools } from "../../../domain/payer/budget.ts";
import type { Ledger } from "../../ledger.ts";
import { ledgers, type Store } from "../../testing/backends.ts";
import {
  ALICE,
  hashOf,
  inclusionAt,
  leaseOf,
  OPERATOR,
  outcomeOf,
  RETRY,
  ROUTER,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../../testing/fixtures.ts";

const TOOL = toolOf(1);

// The chain has undone the block in which a batch was final.
describe.each(ledgers)("a final batch that is reopened on $name", ({ create }) => {
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

  const deliver = (id: string) =>
    ledger.recordTurn(turnOf(id, { modelCost: usdc(50), tools: [{ toolId: TOOL, amount: usdc(100), calls: 1 }] }), 1);
  const pending = async () => (await ledger.readExposures([ALICE]))[0]?.pending;

  async function finalBatch(changes: Parameters<typeof outcomeOf>[0]) {
    const lease = await leaseOf(ledger);
    await deliver("a");
    const before = await ledger.readTotals();
    const batchId = await submitted(ledger, lease, [ALICE], 3);
    const outcome = outcomeOf({ charged: usdc(150), ...changes });
    await ledger.recordInclusion(lease, batchId, inclusionAt(5n), "success", outcome);
    await ledger.finalize(lease, batchId, outcome, RETRY, 20_000);
    return { batchId, outcome, before };
  }

  it("is on its way again with its bytes and its nonce, and nothing of it counts as settled", async () => {
    const payee = { toolId: TOOL, payee: ALICE, amount: usdc(100), developerShare: usdc(90) };
    const { batchId, outcome, before } = await finalBatch({ paid: [payee] });
    expect(await pending()).toBe(0n);
    const final = await ledger.findSubmission(batchId);
    expect(await ledger.listFinalSince(5n)).toMatchObject([{ id: batchId, blockNumber: 5n }]);
    expect(await ledger.listFinalSince(6n)).toEqual([]);

    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "reopened", charges: 2 });
    const open = await ledger.findSubmission(batchId);
    expect(open).toMatchObject({ state: { kind: "submitted" }, nonce: final?.nonce, broadcasts: final?.broadcasts });
    expect(await pending()).toBe(150n);
    expect(await ledger.readTotals()).toEqual(before);
    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "not_final" });

    const lease = await leaseOf(ledger);
    await ledger.recordInclusion(lease, batchId, inclusionAt(9n), "success", outcome);
    await ledger.finalize(lease, batchId, outcome, RETRY, 30_000);
    expect(await pending()).toBe(0n);
    expect((await ledger.readTotals()).settled).toBe(150n);
  });

  it("owes again what was refused in it", async () => {
    const { batchId, before } = await finalBatch({
      charged: usdc(50),
      refused: [{ chargedTo: ALICE, toolId: TOOL, amount: usdc(100), reason: "unlisted" }],
    });
    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "reopened", charges: 2 });
    expect(await ledger.readTotals()).toEqual(before);
  });

  it("is given up if rows of it failed and were charged elsewhere since, and its key is fenced off", async () => {
    const { batchId } = await finalBatch({
      charged: usdc(0),
      failed: [{ chargedTo: ALICE, amount: usdc(150), reason: "allowance" }],
    });
    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "taken_back", charges: 0 });
    expect(await ledger.findSubmission(batchId)).toMatchObject({ state: { kind: "abandoned" }, nonce: null });
    expect(await ledger.listOperators()).toMatchObject([{ fence: -1 }]);
    expect(await pending()).toBe(150n);
  });

  it("is given up if a line of it was put off, because it might take that after all", async () => {
    const { batchId } = await finalBatch({
      charged: usdc(50),
      refused: [{ chargedTo: ALICE, toolId: TOOL, amount: usdc(100), reason: "earning_cap" }],
    });
    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "taken_back", charges: 1 });
    expect(await pending()).toBe(150n);
  });

  it("owes again what it had paid if this ledger took it in from the chain, and nothing is left of it", async () => {
    await leaseOf(ledger);
    await deliver("a");
    await deliver("b");
    const before = await ledger.readTotals();
    const batchId = hashOf("taken in");
    const found = { batchId, operator: OPERATOR, router: ROUTER, calldata: "0x01" as const, rows: 0, otherRows: false };
    const taken = [
      { chargedTo: ALICE, toolId: TOOL, amount: usdc(150) },
      { chargedTo: ALICE, toolId: null, amount: usdc(500) },
    ];
    const outcome = outcomeOf({ charged: usdc(650) });
    await ledger.adoptBatch({ ...found, taken, inclusion: inclusionAt(5n), outcome }, 10);
    // The second charge of the tool is covered in part, and divided.
    expect(await pending()).toBe(50n);
    expect(await ledger.reopen(batchId, 40_000)).toEqual({ kind: "taken_back", charges: 4 });
    expect(await pending()).toBe(300n);
    expect(await ledger.readTotals()).toEqual(before);
    expect((await ledger.readFinalBatches()).charged).toBe(0n);
    expect(await ledger.listOperators()).toMatchObject([{ fence: -1 }]);
    // Mined once more, it is taken in once more.
    await ledger.adoptBatch({ ...found, taken, inclusion: inclusionAt(9n), outcome }, 50_000);
    expect(await pending()).toBe(50n);
  });

  it("gives back to a budget what it had taken of it if this ledger took it in from the chain", async () => {
    await leaseOf(ledger);
    const budget = {
      payer: ALICE,
      id: 7n,
      maxSpend: usdc(400),
      validUntil: 1_000n,
      tools: [],
      signature: "0x01" as const,
    };
    await ledger.keepBudget(budget, 0);
    const onChain = { maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) };
    for (const id of ["a", "b"]) {
      const turn = turnOf(id, {
        modelCost: usdc(0),
        tools: [{ toolId: TOOL, amount: usdc(100), calls: 1 }],
        budgetId: 7n,
      });
      await ledger.recordTurn(turn, 1, null, onChain);
    }
    const drawn = async () => {
      const { pending, taken } = (await ledger.findBudget(budget)) ?? {};
      return { pending, taken };
    };
    expect(await drawn()).toEqual({ pending: 200n, taken: 0n });
    const batchId = hashOf("taken in");
    const found = { batchId, operator: OPERATOR, router: ROUTER, calldata: "0x01" as const, rows: 0, otherRows: false };
    // The second is covered in part.
    const taken = [{ chargedTo: ALICE, toolId: TOOL, amount: usdc(150) }];
    await ledger.adoptBatch(
      { ...found, taken, inclusion: inclusionAt(5n), outcome: outcomeOf({ charged: usdc(150) }) },
      10,
    );
    expect(await drawn()).toEqual({ pending: 50n, taken: 150n });
    await ledger.reopen(batchId, 40_000);
    expect(await drawn()).toEqual({ pending: 200n, taken: 0n });
    // What waits under it is found, so that it can be settled.
    expect(await ledger.listBudgetsDue([ALICE])).toMatchObject([{ id: 7n, pending: 200n }]);
  });
});

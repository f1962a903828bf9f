import { type Address, type Hex, padHex, size, toHex } from "viem";
import { describe, expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { type DueCharge, NO_HASHES } from "../../domain/charges/charge.ts";
import { microUsdc } from "../../domain/money.ts";
import { type BudgetOnChain, budgetName, hashTools, type KnownBudget } from "../../domain/payer/budget.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { type Funds, NOTHING_UNDERWAY, underwayOf } from "./draw.ts";
import { net } from "./net.ts";

const PAYER = padHex("0xaa", { size: 20 });
const INSURANCE = padHex("0x1e5", { size: 20 });
const SIGNATURE: Hex = `0x${"51".repeat(65)}`;
const tool = (n: number) => padHex(toHex(n + 1), { size: 16 }) as ToolId;
const BOUNDS = {
  ...{ maxRows: 500, maxLines: 2500, maxCharges: 10_000, limit: 10n ** 15n, room: 10n ** 15n },
  previous: NO_BATCH,
  domain: { chainId: 8453, router: padHex("0xcc", { size: 20 }) },
  underway: NOTHING_UNDERWAY,
};
const UNKNOWN: BudgetOnChain = {
  maxSpend: microUsdc(0n),
  spent: microUsdc(0n),
  validUntil: 0n,
  endsAt: 0n,
  toolsHash: hashTools([]),
};

const known = (fields: Partial<KnownBudget> = {}): KnownBudget => ({
  payer: PAYER,
  id: 7n,
  maxSpend: microUsdc(100n),
  validUntil: 1_000n,
  tools: [],
  signature: SIGNATURE,
  held: microUsdc(0n),
  pending: microUsdc(0n),
  taken: microUsdc(0n),
  carried: microUsdc(0n),
  ...fields,
});

const charge = (n: number, amount: bigint, fields: Partial<DueCharge> = {}): DueCharge => ({
  id: padHex(toHex(n + 1), { size: 32 }),
  for: { kind: "tool", toolId: tool(0), calls: 1 },
  payer: PAYER,
  budgetId: 7n,
  chargedTo: PAYER,
  amount: microUsdc(amount),
  hashes: NO_HASHES,
  accruedAtMs: 1,
  attempts: 0,
  ...fields,
});

type World = {
  budgets?: readonly KnownBudget[];
  onChain?: Partial<BudgetOnChain>;
  timestamp?: bigint;
  consentRequired?: boolean;
  underway?: bigint;
};

// What becomes of the charges: the row's budget, its total, and why which of them cannot be paid.
function netted(charges: readonly DueCharge[], world: World = {}) {
  const { budgets = [known()], onChain = {}, timestamp = 1_000n, consentRequired = true, underway = 0n } = world;
  const chain = new Map(budgets.map(({ id }) => [id, { ...UNKNOWN, ...onChain }]));
  const funds = (payer: Address, demands: boolean): Funds => ({
    ...spendableOf(payer, 10n ** 9n, { timestamp, consentRequired: demands, budgets: chain }),
    refunding: 0n,
    isBeyondCredit: false,
  });
  const { batch, unpayable } = net(
    charges,
    new Map([
      [PAYER, funds(PAYER, consentRequired)],
      [INSURANCE, funds(INSURANCE, false)],
    ]),
    { ...BOUNDS, underway: { ...NOTHING_UNDERWAY, budgets: new Map([[budgetName(known()), underway]]) } },
    new Map(budgets.map((budget) => [budgetName(budget), budget])),
  );
  return {
    rows: batch?.rows.map(({ payer, budget }) => ({ payer, budget })) ?? [],
    total: batch?.total ?? 0n,
    reasons: unpayable.map(({ reason }) => reason),
  };
}

const signed = { maxSpend: 100n, validUntil: 1_000n, signature: SIGNATURE };
const brought = { maxSpend: microUsdc(100n), validUntil: 1_000n };

describe("net, of charges on a budget,", () => {
  it("brings the signature until a final batch has brought it", () => {
    const row = (carried: bigint, onChain: Partial<BudgetOnChain>) =>
      netted([charge(0, 10n)], { budgets: [known({ carried: microUsdc(carried) })], onChain }).rows[0]?.budget;
    expect(row(0n, {})).toEqual({ id: 7n, signed });
    // Mined, and not final: a reorg may leave that block and not this batch.
    expect(row(0n, brought)).toEqual({ id: 7n, signed });
    expect(row(100n, brought)).toEqual({ id: 7n });
    // Raised since, or undone though it was final.
    expect(row(99n, brought)).toEqual({ id: 7n, signed });
    expect(row(100n, {})).toEqual({ id: 7n, signed });
  });

  it("brings the tools every time if it is for some alone, as they were signed", () => {
    const tools = [tool(1), tool(0)];
    const onChain = { ...brought, toolsHash: hashTools(tools) };
    const row = (carried: bigint) =>
      netted([charge(0, 10n)], { budgets: [known({ tools, carried: microUsdc(carried) })], onChain }).rows[0]?.budget;
    expect(row(0n)).toEqual({ id: 7n, tools, signed });
    expect(row(100n)).toEqual({ id: 7n, tools });
  });

  it("brings its own signature again where another service has brought a higher one that leaves something of it out", () => {
    const budgets = [known({ carried: microUsdc(100n) })];
    const higher = { maxSpend: microUsdc(200n), validUntil: 1_000n, spent: microUsdc(70n) };
    for (const narrower of [{ validUntil: 1n }, { toolsHash: hashTools([tool(1)]) }]) {
      const charges = [charge(0, 30n), charge(1, 1n)];
      expect(netted(charges, { budgets, onChain: { ...higher, ...narrower } })).toEqual({
        rows: [{ payer: PAYER, budget: { id: 7n, signed } }],
        // What was spent under the other one counts, and what it allows does not.
        ...{ total: 30n, reasons: ["budget_exceeded"] },
      });
    }
    // One that lasts longer, for all tools, is as good as its own.
    const wider = netted([charge(0, 31n)], { budgets, onChain: { ...higher, validUntil: 2_000n }, timestamp: 1_500n });
    expect(wider).toEqual({ rows: [{ payer: PAYER, budget: { id: 7n } }], total: 31n, reasons: [] });
  });

  it("takes what fits, and says that the rest is above what was signed", () => {
    const charges = [charge(0, 60n), charge(1, 60n), charge(2, 40n)];
    expect(netted(charges)).toMatchObject({ total: 100n, reasons: ["budget_exceeded"] });
    expect(netted(charges, { onChain: { ...brought, spent: microUsdc(70n) } })).toMatchObject({
      total: 0n,
      reasons: ["budget_exceeded", "budget_exceeded", "budget_exceeded"],
    });
  });

  it("waits for what is underway, and fails nobody for it", () => {
    expect(netted([charge(0, 60n), charge(1, 30n)], { underway: 50n })).toMatchObject({ total: 30n, reasons: [] });
  });

  it("fails what comes after its time, or after its payer's end of it", () => {
    const late = { reasons: ["budget_expired"], total: 0n };
    expect(netted([charge(0, 1n)], { timestamp: 1_000n })).toMatchObject({ reasons: [], total: 1n });
    expect(netted([charge(0, 1n)], { timestamp: 1_001n })).toMatchObject(late);
    expect(netted([charge(0, 1n)], { onChain: { endsAt: 999n } })).toMatchObject(late);
    expect(netted([charge(0, 1n)], { onChain: { endsAt: 1_000n } })).toMatchObject({ reasons: [] });
  });

  it("fails a line for another tool, and never the model", () => {
    const budgets = [known({ tools: [tool(1)] })];
    expect(netted([charge(0, 1n)], { budgets })).toMatchObject({ reasons: ["budget_tools"] });
    expect(netted([charge(0, 1n, { for: { kind: "model" } })], { budgets })).toMatchObject({ reasons: [], total: 1n });
    // Raised elsewhere, for tools that nobody has told this service.
    const onChain = { maxSpend: microUsdc(200n), validUntil: 1_000n, toolsHash: hashTools([tool(0), tool(2)]) };
    expect(netted([charge(0, 1n)], { budgets, onChain })).toMatchObject({ reasons: ["budget_tools"] });
  });

  it("puts one budget into a row: who has waited longest decides, and the others wait", () => {
    const budgets = [known(), known({ id: 8n })];
    const charges = [charge(0, 1n, { budgetId: 8n }), charge(1, 2n), charge(2, 4n, { budgetId: 8n })];
    const { rows, total, reasons } = netted([...charges, charge(3, 8n, { budgetId: null })], { budgets });
    expect(rows).toMatchObject([{ payer: PAYER, budget: { id: 8n } }]);
    expect([total, reasons]).toEqual([5n, []]);
    expect(netted([charge(1, 2n)], { budgets: [known({ id: 8n })] })).toMatchObject({ total: 0n, reasons: [] });
  });

  it("charges without a budget fail if their payer demands one since, and the insurance account needs none", () => {
    expect(netted([charge(0, 1n, { budgetId: null })])).toMatchObject({ reasons: ["consent_required"] });
    expect(netted([charge(0, 1n, { budgetId: null })], { consentRequired: false })).toMatchObject({ total: 1n });
    const absorbed = netted([charge(0, 1n, { chargedTo: INSURANCE })]);
    expect(absorbed).toMatchObject({ total: 1n, rows: [{ payer: INSURANCE, budget: undefined }] });
  });

  it("what is underway is read from the rows that are", () => {
    const rows = [{ payer: PAYER, modelCost: 3n, lines: [{ toolIndex: 0, amount: 4n }], budget: { id: 7n } }];
    const calldata = encodeSettle({
      previous: NO_BATCH,
      batchId: padHex("0x1", { size: 32 }),
      toolIds: [tool(0)],
      rows,
    });
    const batch = { kind: "settle", calldata } as Submission;
    expect([...underwayOf([batch, batch]).budgets]).toEqual([[budgetName(known()), 14n]]);
  });

  it("makes no batch larger than the router takes, however much budgets bring and whatever fails", () => {
    const tools = Array.from({ length: 255 }, (_, n) => tool(n));
    const payers = Array.from({ length: 40 }, (_, n) => padHex(toHex(n + 1), { size: 20 }));
    const budgets = new Map(payers.map((payer) => known({ payer, tools })).map((one) => [budgetName(one), one]));
    const onChain = new Map([[7n, UNKNOWN]]);
    const funds = new Map(
      payers.map((payer) => [
        payer,
        { ...spendableOf(payer, 1_000n, { budgets: onChain }), refunding: 0n, isBeyondCredit: false },
      ]),
    );
    let due = payers.map((payer, n) => charge(n, 1n, { payer, chargedTo: payer }));
    const batches: number[] = [];
    while (due.length > 0 && batches.length < 10) {
      const { batch, unpayable } = net(due, funds, BOUNDS, budgets);
      expect(unpayable).toEqual([]);
      const taken = new Set(batch?.receipts.map(({ chargeId }) => chargeId));
      // Two words for each row, of which something may not be charged.
      expect(size(batch?.calldata ?? "0x") + 64 * taken.size).toBeLessThanOrEqual(80_000);
      due = due.filter(({ id }) => !taken.has(id));
      batches.push(taken.size);
    }
    expect(batches.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(batches).toHaveLength(3);
  });
});

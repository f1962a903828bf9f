import { expect, it } from "vitest";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { microUsdc } from "../../domain/money.ts";
import { type BudgetOnChain, budgetName, hashTools, type KnownBudget } from "../../domain/payer/budget.ts";
import { ALICE, usdc } from "../../ledger/testing/fixtures.ts";
import { coveredOf, type Funds, NOTHING_UNDERWAY, type Underway } from "./draw.ts";

const NEW: BudgetOnChain = { maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) };
const KNOWN: KnownBudget = {
  ...{ payer: ALICE, id: 7n, maxSpend: usdc(60), validUntil: 1_000n, tools: [], signature: "0x51" },
  ...{ held: usdc(0), pending: usdc(60), taken: usdc(0), carried: usdc(0) },
};
const funds = (amount: bigint, fields: Partial<Funds> = {}): Funds => ({
  ...spendableOf(ALICE, amount, { budgets: new Map([[7n, NEW]]), ...fields }),
  refunding: fields.refunding ?? microUsdc(0n),
  isBeyondCredit: false,
});

it.each<[about: string, funds: Funds, budgets: KnownBudget[], covered: bigint]>([
  ["has it in the wallet", funds(100n), [], 100n],
  ["has less in the wallet", funds(99n), [], 99n],
  ["has it prepaid", funds(0n, { prepaid: usdc(100) }), [], 100n],
  ["has asked it back, and can still be charged", funds(0n, { refunding: usdc(100) }), [], 100n],
  ["has used up its daily cap", funds(100n, { dailyCapLeft: 70n }), [], 70n],
  ["demands consent and has given none", funds(100n, { consentRequired: true }), [], 0n],
  ["demands consent and has given it for a part", funds(100n, { consentRequired: true }), [KNOWN], 60n],
  ["has given consent to a part and demands none", funds(100n), [KNOWN], 100n],
  ["has signed for less than is due", funds(100n), [{ ...KNOWN, maxSpend: usdc(59) }], 99n],
  ["has a budget that is over", funds(100n, { timestamp: 1_001n }), [KNOWN], 40n],
])("of 100 that are due, who %s", (_, known, budgets, covered) => {
  expect(coveredOf(known, 100n, budgets, NOTHING_UNDERWAY)).toBe(covered);
});

it("what is underway on a budget is not due, and makes nothing on none covered", () => {
  const underway: Underway = { prepaid: new Map(), budgets: new Map([[budgetName(KNOWN), 60n]]) };
  expect(coveredOf(funds(100n, { consentRequired: true }), 10n, [KNOWN], underway)).toBe(0n);
  expect(coveredOf(funds(100n), 10n, [KNOWN], underway)).toBe(10n);
});

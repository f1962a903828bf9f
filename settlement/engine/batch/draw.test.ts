import { expect, it } from "vitest";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { microUsdc } from "../../domain/money.ts";
import { type BudgetOnChain, hashTools, type KnownBudget } from "../../domain/payer/budget.ts";
import { ALICE, usdc } from "../../ledger/testing/fixtures.ts";
import { canPay, type Funds } from "./draw.ts";

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

it.each<[about: string, funds: Funds, budgets: KnownBudget[], able: boolean]>([
  ["has it in the wallet", funds(100n), [], true],
  ["has less in the wallet", funds(99n), [], false],
  ["has it prepaid", funds(0n, { prepaid: usdc(100) }), [], true],
  ["has asked it back, and can still be charged", funds(0n, { refunding: usdc(100) }), [], true],
  ["has used up its daily cap", funds(100n, { dailyCapLeft: 99n }), [], false],
  ["demands consent and has given none", funds(100n, { consentRequired: true }), [], false],
  ["demands consent and has given it for a part", funds(100n, { consentRequired: true }), [KNOWN], false],
  ["has given consent to a part and demands none", funds(100n), [KNOWN], true],
  ["has signed for less than is due", funds(100n), [{ ...KNOWN, maxSpend: usdc(59) }], false],
  ["has a budget that is over", funds(100n, { timestamp: 1_001n }), [KNOWN], false],
])("of 100 that are due, who %s", (_, known, budgets, able) => {
  expect(canPay(known, 100n, budgets)).toBe(able);
});

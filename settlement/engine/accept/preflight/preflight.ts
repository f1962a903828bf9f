import type { Address } from "viem";
import type { Spendable } from "../../../chain/chain.ts";
import type { ReadSpendable } from "../../../chain/readSpendable.ts";
import { formatUsd, larger, type MicroUsdc, microUsdc, smaller } from "../../../domain/money.ts";
import type { Draft } from "../../../domain/payer/budget.ts";
import {
  type CreditPolicy,
  type CreditRefusal,
  creditLimitOf,
  exposureOf,
  refuseCredit,
} from "../../../domain/payer/credit.ts";
import type { Exposure, ReadFunds } from "../../../domain/payer/payer.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type BudgetRefusal, budgetRefusal } from "../budgets/budgetRefusal.ts";
import type { Unsettled } from "./createUnsettled.ts";
import { owedReason } from "./owedReason.ts";

export type PreflightFunds = {
  // What the payer could be charged beyond what is pending and held already.
  available: MicroUsdc;
  balance: MicroUsdc;
  allowance: bigint;
  dailyCapLeft: bigint;
  // What of the prepaid balance the payer has not asked back.
  prepaid: MicroUsdc;
  // Whether the payer can be charged under a budget alone.
  consentRequired: boolean;
  pending: MicroUsdc;
  held: MicroUsdc;
  // What of pending the platform does not absorb: the payer owes it to the developers of tools.
  owed: MicroUsdc;
  debt: MicroUsdc;
  // How much may be delivered beyond what is prepaid before it is settled, and what is left of that.
  creditLimit: MicroUsdc;
  creditLeft: MicroUsdc;
};

export type Preflight =
  // `spendable` is what all that the payer owes may come to, and what is known of the budget, as the chain said it at a block.
  | { code: "ok"; funds: PreflightFunds; spendable: ReadFunds & { prepaid: bigint } }
  | { code: "no_wallet" }
  // The cap is not set or too small, or today's part of it is used up.
  | { code: "insufficient_allowance"; funds: PreflightFunds; reason: string }
  // There is not enough USDC, it cannot be moved, or the platform had to pay for this payer before.
  | { code: "payment_failed"; funds: PreflightFunds; reason: string }
  // More would be delivered without being settled than this payer has credit for.
  | { code: "credit_exceeded"; funds: PreflightFunds; reason: string }
  // The payer demands a signed budget, and there is none.
  | { code: "consent_required"; funds: PreflightFunds; reason: string }
  // There is one, and it does not cover this.
  | ({ funds: PreflightFunds } & BudgetRefusal);

// A row draws on one budget, so that whoever spreads its charges over many takes as many batches, each with its gas, and with as much
// of everybody's time.
const MAX_OPEN_BUDGETS = 16;
const TOO_MANY_BUDGETS = `what was delivered under ${MAX_OPEN_BUDGETS} other budgets is not settled yet; it is being settled: try again in a minute, or raise one of them`;

// What is to be drawn on which budget of the payer's.
export type DraftOn = Draft & { budgetId: bigint };

export type PreflightContext = {
  ledger: Ledger;
  readSpendable: ReadSpendable;
  credit: CreditPolicy;
  unsettled: Unsettled;
};

export type PreflightOptions = {
  // Since which block the chain must have been asked.
  notBefore?: bigint;
  // How much of the amount would be delivered at once: all of it, unless it is a budget whose calls are asked about one by one.
  onCredit?: bigint;
  // What is to be drawn on a budget, if that is how it is paid.
  draft?: DraftOn | null;
};

export type Refusal = Exclude<Preflight, { code: "ok" }>;

// Whether a payer can pay `amount` for something that has not run yet: one read of the chain, less what the chain does
// not know of yet. It costs no gas and changes nothing.
//
// What a payer owes is taken in one row, and a row draws either on the prepaid balance or on the wallet. So all that is owed must
// fit into one of the two: their sum would promise what no row could take.
//
// With `draft`, the budget of that id must cover it as well, whether or not the payer demands one.
export async function preflight(
  { ledger, readSpendable, credit, unsettled }: PreflightContext,
  payer: Address | null,
  amount: MicroUsdc,
  { notBefore = 0n, onCredit = amount, draft = null }: PreflightOptions = {},
): Promise<Preflight> {
  if (payer === null) return { code: "no_wallet" };
  const [spendable, [exposure], known] = await Promise.all([
    readSpendable(payer, notBefore, draft?.budgetId ?? null),
    ledger.readExposures([payer]),
    draft === null ? null : ledger.findBudget({ payer, id: draft.budgetId }),
  ]);
  const settled = exposure?.settled ?? 0n;
  const waits = spendable.prepaid > 0n ? await unsettled() : null;
  const covered = waits === null ? spendable.prepaid : microUsdc(0n);
  const funds = fundsOf(spendable, exposure, { creditLimit: creditLimitOf(credit, settled), covered });
  const committed = funds.pending + funds.held;
  const needed = committed + amount;
  if (funds.debt > 0n) {
    return { code: "payment_failed", funds, reason: "an earlier charge was paid by the platform and is still owed" };
  }
  if (funds.owed > 0n) {
    const reason = await owedReason({ ledger, readSpendable }, payer, funds.owed);
    return { code: "payment_failed", funds, reason };
  }
  const budget = draft === null ? null : (spendable.budgets.get(draft.budgetId) ?? null);
  if (draft !== null && known !== null && budget !== null) {
    const refusal = budgetRefusal(known, budget, draft);
    if (refusal !== null) return { ...refusal, funds };
  } else if (funds.consentRequired || draft !== null) {
    const reason = "the payer demands consent: sign a budget, and send it as budget and signature";
    return { code: "consent_required", funds, reason };
  }
  if (draft !== null && draft.amount > 0n) {
    const others = await ledger.countOpenBudgets({ payer, id: draft.budgetId });
    if (others >= MAX_OPEN_BUDGETS) return { code: "credit_exceeded", funds, reason: TOO_MANY_BUDGETS };
  }
  if (spendable.dailyCapLeft < needed) {
    return { code: "insufficient_allowance", funds, reason: "the payer's own daily cap leaves too little" };
  }
  const { atBlock, prepaid } = spendable;
  const ok = {
    code: "ok",
    funds,
    spendable: { amount: payableOf(spendable), prepaid: covered, atBlock, budget },
  } as const;
  const refusal = refuseCredit(credit, { committed, settled, prepaid: covered }, onCredit);
  if (prepaid >= needed) {
    return refusal === null ? ok : { code: "credit_exceeded", funds, reason: creditReason(refusal, waits) };
  }
  if (spendable.allowance < needed) {
    const cap = "the spending cap is not set or too small";
    const reason = spendable.prepaid > 0n ? `the prepaid balance leaves too little, and ${cap}` : cap;
    return { code: "insufficient_allowance", funds, reason };
  }
  if (spendable.balance < needed) return { code: "payment_failed", funds, reason: "there is not enough USDC" };
  if (spendable.amount < needed) return { code: "payment_failed", funds, reason: "the token lets nothing be taken" };
  return refusal === null ? ok : { code: "credit_exceeded", funds, reason: creditReason(refusal, waits) };
}

// `waits` is why it cannot be settled at present.
export function creditReason({ exposure, limit }: CreditRefusal, waits: string | null = null): string {
  const advice =
    waits === null
      ? "it is being settled: try again in a minute, or deposit USDC in advance"
      : `prepaid money covers no more than that while nothing can be settled (${waits}): try again later`;
  return (
    `what was delivered and is not settled yet would come to ${formatUsd(exposure)} USDC, and this payer has credit for ` +
    `${formatUsd(limit)}; ${advice}`
  );
}

// The most that all rows which a payer waits for may come to.
export function payableOf({ amount, prepaid, dailyCapLeft }: Spendable): bigint {
  return larger(amount, smaller(prepaid, dailyCapLeft));
}

// `covered` is what of the prepaid money covers what is delivered now.
function fundsOf(
  spendable: Spendable,
  exposure: Exposure | undefined,
  { creditLimit, covered }: { creditLimit: MicroUsdc; covered: MicroUsdc },
): PreflightFunds {
  const pending = exposure?.pending ?? microUsdc(0n);
  const held = exposure?.held ?? microUsdc(0n);
  const used = exposureOf({ committed: pending + held, prepaid: covered });
  const available = payableOf(spendable) - pending - held;
  const { balance, allowance, dailyCapLeft, prepaid, consentRequired } = spendable;
  return {
    available: microUsdc(available > 0n ? available : 0n),
    ...{ balance, allowance, dailyCapLeft, prepaid, consentRequired },
    pending,
    held,
    owed: exposure?.owed ?? microUsdc(0n),
    debt: exposure?.debt ?? microUsdc(0n),
    creditLimit,
    creditLeft: microUsdc(larger(creditLimit - used, 0n)),
  };
}

import type { Address } from "viem";
import type { Spendable } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { ChargeFailure } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { larger, smaller } from "../../domain/money.ts";
import { budgetName, type KnownBudget } from "../../domain/payer/budget.ts";
import { type BudgetDraw, budgetDrawOf, limitsOf } from "./drawBudget.ts";

// What a row may not exceed: what the chain leaves, and what batches on their way there will take of it. `reason` is what the
// router would say.
export type Limit = { reason: ChargeFailure; left: bigint; underway: bigint };

// What is known of an account that is to be charged. `refunding` is what it has asked back and can still be drawn on. Somebody who is
// beyond its credit was served because of prepaid money.
export type Funds = Spendable & { refunding: bigint; isBeyondCredit: boolean };

// What is due of an account, and the smallest charge of it.
export type Due = { amount: bigint; least: bigint };

// What a row draws on, and what bounds it. Up to `free` nothing does.
export type Draw = { prepaid: boolean; budget: BudgetDraw | null; limits: readonly Limit[]; free: bigint };

// What batches that are not mined yet will take of prepaid balances, by payer, and of budgets, by `budgetName`. One that is mined and
// not yet recorded counts twice for a moment, which only makes others wait.
export type Underway = { prepaid: ReadonlyMap<Address, bigint>; budgets: ReadonlyMap<string, bigint> };

// Decides what the row of an account draws on. Prepaid money that covers it comes first: it costs no transfer,
// and it is what the payer put there for this. If it does not cover the whole row, the wallet pays all of it, so that the payer
// has one row and not two. What the payer has asked back comes last, because the payer has plans for it; but it was there when
// the work was done. If nothing covers the row, the source with more in it pays what it can.
//
// Somebody who is beyond its credit pays with all that is deposited first, and with the wallet only what that leaves. A wallet can be full
// when a batch is planned and empty when it is mined, until all attempts are used up and the refund has come.
export function drawOf(
  funds: Funds,
  { amount: due, least }: Due,
  underway: Underway,
  known: KnownBudget | null = null,
): Draw {
  const { payer, prepaid, refunding, balance, allowance, dailyCapLeft, consentRequired, isBeyondCredit } = funds;
  const drawn = underway.prepaid.get(payer) ?? 0n;
  const wallet = smaller(balance, allowance);
  const deposited = prepaid + refunding;
  const isDepositFirst = isBeyondCredit && deposited - drawn >= least;
  const isPrepaid =
    isDepositFirst || prepaid - drawn >= due || (wallet < due && (deposited - drawn >= due || deposited > wallet));

  // That the token lets nothing be taken is not among them: it may have been paused when it was asked, which is not the payer's
  // failure. The router tells a pause from a blacklisted payer, and proves it.
  const limits: Limit[] = [{ reason: "daily_cap", left: dailyCapLeft, underway: 0n }];
  const budget = known === null ? null : budgetDrawOf(known, funds);
  if (known !== null && budget !== null) limits.push(...limitsOf(known, funds, underway));
  else if (consentRequired) limits.push({ reason: "consent_required", left: 0n, underway: 0n });
  if (isPrepaid) {
    // What the wallet could pay instead waits for the next batch, and fails nobody.
    const left = isDepositFirst ? larger(deposited, wallet) : deposited;
    limits.push({ reason: "prepaid", left, underway: left - deposited + drawn });
  } else {
    limits.push({ reason: "allowance", left: allowance, underway: 0n });
    limits.push({ reason: "balance", left: balance, underway: 0n });
  }
  const free = limits.map(({ left, underway }) => left - underway).reduce(smaller);
  return { prepaid: isPrepaid, budget, limits, free };
}

// Whether what has been asked back may be needed for so much.
export function isShort({ prepaid, balance, allowance }: Spendable, due: bigint): boolean {
  return due > larger(prepaid, smaller(balance, allowance));
}

// The first limit that a row with this total exceeds whatever is underway, if any.
export function exceeded({ limits }: Draw, total: bigint): ChargeFailure | null {
  return limits.find(({ left }) => total > left)?.reason ?? null;
}

// How much of what is due of an account is covered by what is known of it, on each of its budgets and on none. What is pending on a
// budget is due unless it is underway.
export function coveredOf(funds: Funds, due: bigint, budgets: readonly KnownBudget[], underway: Underway): bigint {
  const mostOf = (amount: bigint, budget: KnownBudget | null) => {
    if (amount <= 0n) return 0n;
    const { limits } = drawOf(funds, { amount, least: amount }, NOTHING_UNDERWAY, budget);
    return larger(0n, limits.map(({ left }) => left).reduce(smaller, amount));
  };
  let onNone = due;
  let covered = 0n;
  for (const budget of budgets) {
    const amount = budget.pending - (underway.budgets.get(budgetName(budget)) ?? 0n);
    covered += mostOf(amount, budget);
    onNone -= larger(0n, amount);
  }
  return covered + mostOf(onNone, null);
}

// Whether it has to wait for what is underway.
export function mustWait({ limits }: Draw, total: bigint): boolean {
  return limits.some(({ left, underway }) => total > left - underway);
}

export const NOTHING_UNDERWAY: Underway = { prepaid: new Map(), budgets: new Map() };

// And who has a row in one of them.
export function underwayOf(unmined: readonly Submission[]): Underway & { accounts: ReadonlySet<Address> } {
  const accounts = new Set<Address>();
  const prepaid = new Map<Address, bigint>();
  const budgets = new Map<string, bigint>();
  for (const { kind, calldata } of unmined) {
    if (kind !== "settle") continue;
    for (const row of decodeSettle(calldata).rows) {
      accounts.add(row.payer);
      const total = row.lines.reduce((sum, { amount }) => sum + amount, row.modelCost);
      if (row.prepaid) prepaid.set(row.payer, (prepaid.get(row.payer) ?? 0n) + total);
      if (row.budget === undefined) continue;
      const name = budgetName({ payer: row.payer, id: row.budget.id });
      budgets.set(name, (budgets.get(name) ?? 0n) + total);
    }
  }
  return { accounts, prepaid, budgets };
}

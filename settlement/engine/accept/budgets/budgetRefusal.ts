import { formatUsd } from "../../../domain/money.ts";
import {
  type BudgetFailure,
  type BudgetOnChain,
  type Draft,
  endOf,
  type KnownBudget,
  remainingOf,
  termsOf,
  whyNotDrawn,
} from "../../../domain/payer/budget.ts";

export type BudgetRefusal = { code: BudgetFailure; reason: string };

// Why nothing new may be drawn on a budget, in words that say how to go on; null if it may. One that its payer has ended takes
// nothing new: the grace that follows is for what was delivered before.
export function budgetRefusal(known: KnownBudget, onChain: BudgetOnChain, draft: Draft): BudgetRefusal | null {
  if (onChain.endsAt !== 0n) {
    return { code: "budget_expired", reason: `the payer has ended budget ${known.id}; sign one with another id` };
  }
  const code = whyNotDrawn(known, onChain, draft);
  return code === null ? null : { code, reason: reasonOf(code, known, onChain, draft) };
}

// In words for whoever signs.
export function reasonOf(code: BudgetFailure, known: KnownBudget, onChain: BudgetOnChain, draft: Draft): string {
  switch (code) {
    case "budget_exceeded": {
      const [left, limit] = [remainingOf(known, onChain), termsOf(known, onChain).maxSpend].map(formatUsd);
      return `budget ${known.id} of ${limit} leaves ${left}; sign it again with a higher maxSpend`;
    }
    case "budget_expired": {
      const [end, needed] = [endOf(termsOf(known, onChain), onChain), draft.settledBy].map(timeOf);
      return `budget ${known.id} ends at ${end}, and settlement may take until ${needed}; sign it for longer, with a higher maxSpend`;
    }
    case "budget_tools":
      return `budget ${known.id} is for other tools; sign it for all of them with a higher maxSpend, or another id for this one`;
  }
}

const timeOf = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();

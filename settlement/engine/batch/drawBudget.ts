import type { RowBudget } from "../../domain/batch/batch.ts";
import { budgetName, hasEnded, isForTool, isKnownTo, type KnownBudget, termsOf } from "../../domain/payer/budget.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Funds, Limit, Underway } from "./draw.ts";

// The budget of a row, and which tools it is good for.
export type BudgetDraw = { row: RowBudget; isFor: (toolId: ToolId) => boolean };

// What a row brings of the budget that it draws on: its tools, whenever it is for some alone, and the signature until a final batch
// has brought it. A block that is not final may be left, and the budget with it, while this batch is mined all the same.
export function budgetDrawOf(known: KnownBudget, { budgets }: Funds): BudgetDraw | null {
  const onChain = budgets.get(known.id);
  if (onChain === undefined) return null;
  const terms = termsOf(known, onChain);
  const isBrought = isKnownTo(onChain, known) && known.carried >= known.maxSpend;
  const { id, maxSpend, validUntil, signature } = known;
  const { tools } = isBrought ? terms : known;
  return {
    row: {
      id,
      ...(tools.length > 0 && { tools }),
      ...(!isBrought && { signed: { maxSpend, validUntil, signature } }),
    },
    isFor: (toolId) => isForTool(terms, toolId),
  };
}

// What bounds a row on a budget, as of the block that the chain was asked at.
export function limitsOf(known: KnownBudget, { budgets, timestamp }: Funds, underway: Underway): Limit[] {
  const onChain = budgets.get(known.id);
  if (onChain === undefined) return [];
  const terms = termsOf(known, onChain);
  const limits: Limit[] = [
    {
      reason: "budget_exceeded",
      left: terms.maxSpend - onChain.spent,
      underway: underway.budgets.get(budgetName(known)) ?? 0n,
    },
  ];
  if (hasEnded(known, onChain, timestamp)) limits.push({ reason: "budget_expired", left: 0n, underway: 0n });
  return limits;
}

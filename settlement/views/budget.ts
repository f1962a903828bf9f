import { z } from "zod";
import { formatUsd } from "../domain/money.ts";
import { type Budget, endOf, termsOf } from "../domain/payer/budget.ts";
import { uuidFromToolId } from "../domain/toolId.ts";
import type { ListedBudget } from "../engine/accept/budgets/listBudgets.ts";
import { digits, time, timeOf, toolId, usd } from "./shapes.ts";

export const budgetSchema = z
  .object({
    id: digits,
    maxSpendUsd: usd,
    validUntil: time,
    // None for all tools; null if it was raised elsewhere for tools that are not known here.
    tools: z.array(toolId).nullable(),
    // Taken on chain, accrued and not yet taken, reserved by calls that run, and what is left beside all of that.
    spentUsd: usd,
    pendingUsd: usd,
    heldUsd: usd,
    remainingUsd: usd,
    // When the payer has ended it, the last moment at which delivered work can be settled.
    endsAt: time.nullable(),
  })
  .meta({ id: "Budget" });

export type BudgetView = z.infer<typeof budgetSchema>;

export function budgetView({ known, onChain, remaining }: ListedBudget): BudgetView {
  const terms = termsOf(known, onChain);
  return {
    id: known.id.toString(),
    maxSpendUsd: formatUsd(terms.maxSpend),
    validUntil: timeAt(terms.validUntil),
    tools: terms.tools?.map(uuidFromToolId) ?? null,
    spentUsd: formatUsd(onChain.spent),
    pendingUsd: formatUsd(known.pending),
    heldUsd: formatUsd(known.held),
    remainingUsd: formatUsd(remaining),
    endsAt: onChain.endsAt === 0n ? null : timeAt(endOf(terms, onChain)),
  };
}

// A budget as requests carry it, for whoever sends one on.
export function budgetFields({ id, maxSpend, validUntil, tools }: Omit<Budget, "payer">) {
  return {
    id: id.toString(),
    maxSpendUsd: formatUsd(maxSpend),
    validUntil: timeAt(validUntil),
    tools: tools.map(uuidFromToolId),
  };
}

const timeAt = (seconds: bigint) => timeOf(Number(seconds) * 1_000);

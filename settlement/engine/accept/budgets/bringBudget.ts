import type { Address } from "viem";
import type { SignedBudget } from "../../../domain/payer/budget.ts";
import type { EngineContext } from "../../context.ts";
import { type KeptBudget, keepBudget } from "./keepBudget.ts";

// What a payer has signed, sent with what it is to pay for: whose it is, that says.
export type BroughtBudget = Omit<SignedBudget, "payer">;

// It came with a budget that cannot be kept, and nothing else was done.
export type BudgetNotKept = { kind: "budget_refused"; refusal: Extract<KeptBudget, { kind: "refused" }> };

// The newest signature travels with what needs it. It is kept first, and then drawn on: null if nothing is drawn on. What was done before
// is found again whatever has become of the signature since, which a smart account may have withdrawn.
export async function bringBudget(
  context: Pick<EngineContext, "ledger" | "chain" | "clock">,
  payer: Address,
  brought: BroughtBudget | null,
  wasDone: () => Promise<boolean> = async () => false,
): Promise<{ kind: "brought"; budgetId: bigint | null } | BudgetNotKept> {
  if (brought === null) return { kind: "brought", budgetId: null };
  const kept = await keepBudget(context, { ...brought, payer });
  if (kept.kind === "kept" || (await wasDone())) return { kind: "brought", budgetId: brought.id };
  return { kind: "budget_refused", refusal: kept };
}

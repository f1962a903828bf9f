import type { Address } from "viem";
import type { MicroUsdc } from "../../../domain/money.ts";
import { type BudgetOnChain, type KnownBudget, remainingOf } from "../../../domain/payer/budget.ts";
import type { EngineContext } from "../../context.ts";

export type ListedBudget = { known: KnownBudget; onChain: BudgetOnChain; remaining: MicroUsdc };

// What a payer has signed, newest first, with what the chain has taken of it.
export async function listBudgets(
  { ledger, chain }: Pick<EngineContext, "ledger" | "chain">,
  payer: Address,
  limit: number,
  offset: number,
): Promise<ListedBudget[]> {
  const budgets = await ledger.listBudgets(payer, limit, offset);
  const [spendable] = await chain.spendable([payer], budgets);
  return budgets.flatMap((known) => {
    const onChain = spendable?.budgets.get(known.id);
    return onChain === undefined ? [] : [{ known, onChain, remaining: remainingOf(known, onChain) }];
  });
}

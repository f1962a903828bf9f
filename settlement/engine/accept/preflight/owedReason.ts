import type { Address } from "viem";
import { formatUsd, type MicroUsdc } from "../../../domain/money.ts";
import { hasEnded } from "../../../domain/payer/budget.ts";
import type { PreflightContext } from "./preflight.ts";

// Why a payer is refused who owes what the platform does not absorb, and what helps. What was delivered under a budget is charged under
// that budget alone: after its end no money helps, but a signature for longer does, unless the payer has ended it.
export async function owedReason(
  { ledger, readSpendable }: Pick<PreflightContext, "ledger" | "readSpendable">,
  payer: Address,
  owed: MicroUsdc,
): Promise<string> {
  const debt = `earlier charges of ${formatUsd(owed)} USDC could not be paid and are still owed to the developers of tools`;
  const budgets = await ledger.listBudgetsDue([payer]);
  const found = await Promise.all(budgets.map(({ id }) => readSpendable(payer, 0n, id)));
  for (const [i, budget] of budgets.entries()) {
    const onChain = found[i]?.budgets.get(budget.id);
    if (onChain === undefined || !hasEnded(budget, onChain, found[i]?.timestamp ?? 0n)) continue;
    if (onChain.endsAt === 0n) {
      return `${debt}; budget ${budget.id}, which they draw on, has ended: sign it again for longer, with a higher maxSpend`;
    }
    return `${debt}; the payer has ended budget ${budget.id}, which they draw on, so that nobody can collect them: ask the platform`;
  }
  return `${debt}; they are collected as soon as the payer can pay them`;
}

import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type BudgetDomain, budgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import type { Budget, SignedBudget } from "../../../settlement/domain/payer/budget.ts";
import { signNested } from "../../budgets/signNested.ts";

// A budget of OpenZeppelin's smart account, signed by its owner.
export async function signForAccount(owner: KeyedAccount, domain: BudgetDomain, budget: Budget): Promise<SignedBudget> {
  const { payer, id, maxSpend, validUntil, tools } = budget;
  const contents = { payer, id, maxSpend, validUntil, tools: [...tools] };
  const signature = await signNested(owner, budgetDomain(domain), contents, BigInt(domain.chainId));
  return { ...budget, signature };
}

import { type Address, type Hex, hashTypedData } from "viem";
import type { Budget, SignedBudget } from "../../domain/payer/budget.ts";

// Where a signature counts: on this chain and for this router, and nowhere else.
export type BudgetDomain = { chainId: number; router: Address };

export const BUDGET_TYPES = {
  Budget: [
    { name: "payer", type: "address" },
    { name: "id", type: "uint64" },
    { name: "maxSpend", type: "uint256" },
    { name: "validUntil", type: "uint256" },
    { name: "tools", type: "bytes16[]" },
  ],
} as const;

export const budgetDomain = ({ chainId, router }: BudgetDomain) =>
  ({ name: "ContextRouter", version: "1", chainId, verifyingContract: router }) as const;

// What a payer signs; IBudgets.sol describes it. A wallet shows it to its owner field by field.
export function budgetTypedData(domain: BudgetDomain, { payer, id, maxSpend, validUntil, tools }: Budget) {
  return {
    domain: budgetDomain(domain),
    types: BUDGET_TYPES,
    primaryType: "Budget",
    message: { payer, id, maxSpend, validUntil, tools },
  } as const;
}

export type BudgetTypedData = ReturnType<typeof budgetTypedData>;

export const budgetDigest = (domain: BudgetDomain, budget: Budget): Hex =>
  hashTypedData(budgetTypedData(domain, budget));

// Signs a budget with whatever signs typed data for its payer: a key, or the owner of a smart account that wraps it its own way.
export async function signBudget(
  signer: { signTypedData(data: BudgetTypedData): Promise<Hex> },
  domain: BudgetDomain,
  budget: Budget,
): Promise<SignedBudget> {
  return { ...budget, signature: await signer.signTypedData(budgetTypedData(domain, budget)) };
}

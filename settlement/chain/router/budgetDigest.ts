import { type Address, concat, type Hex, hashTypedData, keccak256, pad } from "viem";
import type { Budget } from "../../domain/budget.ts";
import type { ToolId } from "../../domain/toolId.ts";

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

// What a payer signs; IBudgets.sol describes it.
export function budgetDigest(domain: BudgetDomain, { payer, id, maxSpend, validUntil, tools }: Budget): Hex {
  return hashTypedData({
    domain: budgetDomain(domain),
    types: BUDGET_TYPES,
    primaryType: "Budget",
    message: { payer, id, maxSpend, validUntil, tools },
  });
}

// The hash of a list of tools as the router keeps it; zero for all tools.
export function hashTools(tools: readonly ToolId[]): Hex {
  if (tools.length === 0) return pad("0x", { size: 32 });
  return keccak256(concat(tools.map((tool) => pad(tool, { dir: "right", size: 32 }))));
}

import type { Address, Hex } from "viem";
import type { MicroUsdc } from "./money.ts";
import type { ToolId } from "./toolId.ts";

// Of a payer; different payers may use the same ids.
export type BudgetKey = { payer: Address; id: bigint };

// What a payer agrees to: the most that may be spent in all, until which second, and for which tools; none for all of them. It is
// cumulative: the same id with a higher `maxSpend`, signed again, takes its place.
export type Budget = BudgetKey & { maxSpend: MicroUsdc; validUntil: bigint; tools: readonly ToolId[] };

export type SignedBudget = Budget & { signature: Hex };

// A budget as the chain knows it; all zero for one that was never brought there. `endsAt` is when the payer has ended it.
export type BudgetOnChain = {
  maxSpend: MicroUsdc;
  spent: MicroUsdc;
  validUntil: bigint;
  endsAt: bigint;
  // The hash of its list of tools; zero if it is good for all.
  toolsHash: Hex;
};

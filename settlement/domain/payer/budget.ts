import { type Address, concat, type Hex, keccak256, pad } from "viem";
import { larger, type MicroUsdc, microUsdc, smaller } from "../money.ts";
import type { ToolId } from "../toolId.ts";

// Of a payer; different payers may use the same ids.
export type BudgetKey = { payer: Address; id: bigint };

// Payers in lower case, as everywhere behind the edge.
export const budgetName = ({ payer, id }: BudgetKey) => `${payer} ${id}`;

// What a payer agrees to: the most that may be spent in all, until which second, and for which tools; none for all of them. It is
// cumulative: the same id with a higher `maxSpend`, signed again, takes its place.
export type Budget = BudgetKey & { maxSpend: MicroUsdc; validUntil: bigint; tools: readonly ToolId[] };

export type SignedBudget = Budget & { signature: Hex };

// A budget as the ledger knows it: the newest signature, and what was drawn on it.
export type KnownBudget = SignedBudget & {
  // Reserved by calls and questions that are running.
  held: MicroUsdc;
  // Accrued and not yet taken on chain.
  pending: MicroUsdc;
  // Taken on chain by batches of this ledger.
  taken: MicroUsdc;
  // The highest `maxSpend` that a final batch has brought to the chain.
  carried: MicroUsdc;
};

// A budget as the chain knows it; all zero for one that was never brought there. `endsAt` is when the payer has ended it.
export type BudgetOnChain = {
  maxSpend: MicroUsdc;
  spent: MicroUsdc;
  validUntil: bigint;
  endsAt: bigint;
  // The hash of its list of tools; zero if it is good for all.
  toolsHash: Hex;
};

// Why a budget cannot be drawn on, in the router's words.
export type BudgetFailure = "budget_exceeded" | "budget_expired" | "budget_tools";

// What counts of a budget: what was signed here, or the higher limit that was brought to the chain and leaves nothing of that out.
export type BudgetTerms = Pick<Budget, "maxSpend" | "validUntil" | "tools">;

// What a row has room for.
export const MAX_BUDGET_ID = 2n ** 64n - 1n;
export const MAX_VALID_UNTIL = 2n ** 40n - 1n;
export const MAX_BUDGET_TOOLS = 255;

// The hash of a list of tools as the router keeps it; zero for all tools.
export function hashTools(tools: readonly ToolId[]): Hex {
  if (tools.length === 0) return pad("0x", { size: 32 });
  return keccak256(concat(tools.map((tool) => pad(tool, { dir: "right", size: 32 }))));
}

// Whether the chain knows of a budget all that was signed here. Another service may have brought a higher limit for less time or for
// other tools: that takes nothing back, and a row that brings the signature is judged by it.
export function isKnownTo({ maxSpend, validUntil, toolsHash }: BudgetOnChain, signed: Budget): boolean {
  const forSame = toolsHash === hashTools([]) || toolsHash === hashTools(signed.tools);
  return maxSpend >= signed.maxSpend && validUntil >= signed.validUntil && forSame;
}

export function termsOf(signed: Budget, onChain: BudgetOnChain): BudgetTerms {
  if (!isKnownTo(onChain, signed)) return signed;
  const { maxSpend, validUntil, toolsHash } = onChain;
  return { maxSpend, validUntil, tools: toolsHash === hashTools([]) ? [] : signed.tools };
}

export const isForTool = ({ tools }: BudgetTerms, toolId: ToolId) => tools.length === 0 || tools.includes(toolId);

// The last second in which it can be drawn on.
export function endOf({ validUntil }: BudgetTerms, { endsAt }: BudgetOnChain): bigint {
  return endsAt === 0n ? validUntil : smaller(validUntil, endsAt);
}

// Whether nothing can be drawn on it any more at a second of the chain.
export function hasEnded(known: Budget, onChain: BudgetOnChain, atSecond: bigint): boolean {
  return atSecond > endOf(termsOf(known, onChain), onChain);
}

// What is left of a budget beside what is drawn on it already. What this ledger has drawn it knows to the unit, while what the chain
// has taken may be part of what is still pending here. Only if the chain has taken more than that, somebody else draws on the
// budget, or the ledger has forgotten something: then what is pending comes on top.
export function remainingOf(known: KnownBudget, onChain: BudgetOnChain): MicroUsdc {
  const { maxSpend } = termsOf(known, onChain);
  const own = known.pending + known.taken;
  const drawn = onChain.spent > own ? onChain.spent + known.pending : own;
  return microUsdc(larger(0n, maxSpend - drawn - known.held));
}

// What somebody wants to draw. It must be settled before the budget ends, so that whoever draws says until when that takes.
export type Draft = { amount: bigint; toolIds: readonly ToolId[]; settledBy: bigint };

// Why a draft is above what is left, comes too late or is for another tool; null if nothing is in its way.
export function whyNotDrawn(known: KnownBudget, onChain: BudgetOnChain, draft: Draft): BudgetFailure | null {
  const terms = termsOf(known, onChain);
  if (draft.settledBy > endOf(terms, onChain)) return "budget_expired";
  if (!draft.toolIds.every((toolId) => isForTool(terms, toolId))) return "budget_tools";
  return draft.amount > remainingOf(known, onChain) ? "budget_exceeded" : null;
}

// Whether a signature that takes another one's place takes nothing away that was agreed to: what was delivered under the old one
// must still be paid under the new one. The list of tools stays, or goes: a batch that brings the old list may be mined after one
// that has brought another, and the router takes the list that it knows.
export function widens(newer: Budget, older: Budget): boolean {
  const { tools } = newer;
  const forSame = tools.length === 0 || tools.join() === older.tools.join();
  return newer.maxSpend > older.maxSpend && newer.validUntil >= older.validUntil && forSame;
}

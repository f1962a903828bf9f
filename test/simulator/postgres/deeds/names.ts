import type { Address } from "viem";
import type { BudgetOnChain } from "../../../../settlement/domain/payer/budget.ts";
import { hashTools } from "../../../../settlement/domain/payer/budget.ts";
import { accountOf, INSURANCE, usdc } from "../../../../settlement/ledger/testing/fixtures.ts";

// Few of everything, so that daemons meet.
export const PAYERS = [1, 2, 3].map(accountOf);
export const ACCOUNTS: readonly Address[] = [INSURANCE, ...PAYERS];
export const MAX_AGE_MS = 3_000;
export const HOLD_TTL_MS = 15_000;

// A payer who can spend this much and no more, in two sessions and in questions at the same time. Nothing of it is settled, so that all
// that it owes and runs is never above it.
export const EDGE = accountOf(0xed6e);
export const EDGE_FUNDS = { amount: 100n, atBlock: 0n };
export const EDGE_CREDIT = { base: usdc(100), growthBps: 0, max: usdc(100) };
export const EDGE_SESSIONS = ["e1", "e2"];

// A key that both daemons have.
export const SHARED_KEY = accountOf(0x5a5a);

export const BUDGETS = [1n, 2n];
// Never brought to the chain.
export const UNSEEN: BudgetOnChain = {
  maxSpend: usdc(0),
  spent: usdc(0),
  validUntil: 0n,
  endsAt: 0n,
  toolsHash: hashTools([]),
};

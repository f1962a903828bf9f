import type { Address } from "viem";
import type { EngineContext } from "../context.ts";

// How many accounts are brought forward in one transaction, and of how many it is looked up each time whether a part of what they owe is late.
const MAX_ACCOUNTS = 200;
const MAX_LOOKED_UP = 2_000;

// A clock that was ahead, of the database or of a machine that had only just started, leaves charges that are due when it said: a month
// later, or a year. Now and then they are looked for, and due at once. Of who goes on buying, or owes what it cannot pay, something is
// always due earlier: those are found account by account.
export function createBringForward({
  ledger,
  clock,
  policy,
}: Pick<EngineContext, "ledger" | "clock" | "policy">): () => Promise<void> {
  // Twice as long as anything waits.
  const { owedRetryMs, deferMs, maxRetryMs, brokenRowWaitMs, flush } = policy;
  const longestMs = 2 * Math.max(owedRetryMs, deferMs, maxRetryMs, brokenRowWaitMs, flush.maxAgeMs);
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let after: Address | null = null;
  return async () => {
    const nowMs = clock.nowMs();
    if (nowMs >= lookedAtMs && nowMs - lookedAtMs < policy.collectMs) return;
    lookedAtMs = nowMs;
    const latestMs = nowMs + longestMs;
    const wholly = await ledger.listLate(latestMs, MAX_ACCOUNTS);
    const partly = await ledger.listPartlyLate(latestMs, after, MAX_LOOKED_UP);
    // After the last of them it begins again with the first.
    after = partly.last;
    const late = [...new Set([...wholly, ...partly.late])];
    for (let i = 0; i < late.length; i += MAX_ACCOUNTS) {
      await ledger.bringForward(late.slice(i, i + MAX_ACCOUNTS), latestMs, nowMs);
    }
  };
}

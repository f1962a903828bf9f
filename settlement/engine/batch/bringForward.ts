import type { EngineContext } from "../context.ts";

// How many accounts are looked at each time.
const MAX_ACCOUNTS = 200;

// A clock that was ahead, of the database or of a machine that had only just started, leaves charges that are due when it said: a month
// later, or a year. Now and then they are looked for, and due at once.
export function createBringForward({
  ledger,
  clock,
  policy,
}: Pick<EngineContext, "ledger" | "clock" | "policy">): () => Promise<void> {
  // Twice as long as anything waits.
  const { owedRetryMs, deferMs, maxRetryMs, brokenRowWaitMs, flush } = policy;
  const longestMs = 2 * Math.max(owedRetryMs, deferMs, maxRetryMs, brokenRowWaitMs, flush.maxAgeMs);
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = clock.nowMs();
    if (nowMs >= lookedAtMs && nowMs - lookedAtMs < policy.collectMs) return;
    lookedAtMs = nowMs;
    const late = await ledger.listLate(nowMs + longestMs, MAX_ACCOUNTS);
    if (late.length > 0) await ledger.bringForward(late, nowMs + longestMs, nowMs);
  };
}

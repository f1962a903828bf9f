import { LRUCache } from "lru-cache";
import type { Clock } from "../../../clock.ts";

export type RateLimitOptions = {
  perSecond: number;
  // How much may come at once after a pause.
  burst?: number;
  // How far ahead of time a token may be taken, by a caller who then waits for it.
  maxWaitMs?: number;
  // How many callers are remembered. Whoever was quiet for longest is forgotten, and starts with a full bucket.
  maxCallers?: number;
  clock: Clock;
};

// Takes one token out of the caller's bucket. Returns how long to wait for it; above `maxWaitMs` none was taken.
export type RateLimit = (caller: string) => number;

// In thousandths of a token, of which `perSecond` come in each millisecond: whole numbers, and nothing to round.
type Bucket = { tokens: number; atMs: number };

const TOKEN = 1_000;

// A bucket per caller, ours and not @fastify/rate-limit's: that one counts in fixed windows of the system's clock, which lets
// twice the rate through around the end of a window, and it decides before it is known whose key a request shows.
export function createRateLimit({
  perSecond,
  burst = perSecond * 2,
  maxWaitMs = 0,
  maxCallers = 10_000,
  clock,
}: RateLimitOptions): RateLimit {
  const buckets = new LRUCache<string, Bucket>({ max: maxCallers });
  return (caller) => {
    const nowMs = clock.nowMs();
    const known = buckets.get(caller) ?? { tokens: burst * TOKEN, atMs: nowMs };
    // A clock that was set back gives nothing and takes nothing.
    const passedMs = Math.max(0, nowMs - known.atMs);
    const tokens = Math.min(burst * TOKEN, known.tokens + passedMs * perSecond);
    const waitMs = Math.max(0, Math.ceil((TOKEN - tokens) / perSecond));
    buckets.set(caller, { tokens: waitMs <= maxWaitMs ? tokens - TOKEN : tokens, atMs: nowMs });
    return waitMs;
  };
}

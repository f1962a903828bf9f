import { LRUCache } from "lru-cache";
import type { Clock } from "../../../clock.ts";

const MAX_KEPT = 64;

// Reads once for everybody who asks the same within a moment, so that many open pages cost what one does. What failed is
// not kept, and a clock that was set back keeps nothing for longer, which a cache's own time limit would.
export function cacheFor<Args extends readonly number[], T>(
  maxAgeMs: number,
  clock: Clock,
  read: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  const kept = new LRUCache<string, { answer: Promise<T>; atMs: number }>({ max: MAX_KEPT });
  return (...args) => {
    const key = args.join();
    const nowMs = clock.nowMs();
    const known = kept.get(key);
    if (known !== undefined && nowMs >= known.atMs && nowMs - known.atMs < maxAgeMs) return known.answer;
    const answer = read(...args);
    kept.set(key, { answer, atMs: nowMs });
    answer.catch(() => {
      if (kept.peek(key)?.answer === answer) kept.delete(key);
    });
    return answer;
  };
}

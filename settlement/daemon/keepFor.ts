import type { Clock } from "../clock.ts";

const MAX_KEPT = 64;

// Reads once for everybody who asks the same within a moment, so that many open pages cost what one does. What failed is
// not kept.
export function keepFor<Args extends readonly number[], T>(
  maxAgeMs: number,
  clock: Clock,
  read: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  // Oldest first.
  const kept = new Map<string, { answer: Promise<T>; atMs: number }>();
  return (...args) => {
    const key = args.join();
    const nowMs = clock.nowMs();
    const known = kept.get(key);
    if (known !== undefined && nowMs >= known.atMs && nowMs - known.atMs < maxAgeMs) return known.answer;
    const answer = read(...args);
    kept.delete(key);
    kept.set(key, { answer, atMs: nowMs });
    answer.catch(() => {
      if (kept.get(key)?.answer === answer) kept.delete(key);
    });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(oldest);
    }
    return answer;
  };
}

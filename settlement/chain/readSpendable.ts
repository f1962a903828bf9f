import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Clock } from "../clock.ts";
import { SettlementError } from "../domain/errors.ts";
import type { Chain, Spendable } from "./chain.ts";

// `notBefore` is the block since which the chain must have been asked: an answer that was kept may be older. With the state of the
// payer's budget of this id, if one is named.
export type ReadSpendable = (payer: Address, notBefore?: bigint, budgetId?: bigint | null) => Promise<Spendable>;

export type ReadSpendableOptions = {
  spendable: Chain["spendable"];
  clock: Clock;
  // How long a question waits for others to share its read.
  gatherMs?: number;
  maxPayersPerRead?: number;
  // How long an answer is good for, counted from when the chain was asked.
  maxAgeMs?: number;
  maxCached?: number;
  // How many payers may wait at a time; beyond that the answer is that the chain is unavailable.
  maxWaiting?: number;
};

type Waiting = { key: string; payer: Address; budgetId: bigint | null; answer: PromiseWithResolvers<Spendable> };
type Cached = { result: Spendable; askedAtMs: number };

// Reads what payers can spend, for pre-flight: questions of the same few milliseconds share a call, and answers are kept
// for a moment.
export function createReadSpendable(options: ReadSpendableOptions): ReadSpendable {
  const { spendable, clock, gatherMs = 3, maxPayersPerRead = 200, maxAgeMs = 1_000 } = options;
  const { maxCached = 10_000, maxWaiting = 10_000 } = options;
  // Keys are lower case, as the same account is written in several ways, and have the budget that was asked about.
  const cache = new LRUCache<string, Cached>({ max: maxCached });
  const waiting = new Map<string, Waiting>();
  let gathered: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const asked = gathered;
    gathered = [];
    const askedAtMs = clock.nowMs();
    try {
      const results = await spendable(
        asked.map(({ payer }) => payer),
        asked.flatMap(({ payer, budgetId }) => (budgetId === null ? [] : [{ payer, id: budgetId }])),
      );
      for (const [i, { key, payer, answer }] of asked.entries()) {
        const result = results[i];
        if (result === undefined) throw new RangeError(`the chain left out ${payer}`);
        cache.set(key, { result, askedAtMs });
        answer.resolve(result);
      }
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    } finally {
      for (const { key } of asked) waiting.delete(key);
    }
  }

  return async (payer, notBefore = 0n, budgetId = null) => {
    const key = `${payer.toLowerCase()} ${budgetId ?? ""}`;
    const cached = cache.get(key);
    const ageMs = cached ? clock.nowMs() - cached.askedAtMs : 0;
    // An answer from the future means that the clock was set back; it is no longer known how old it is.
    if (cached && ageMs >= 0 && ageMs < maxAgeMs && cached.result.atBlock >= notBefore) return cached.result;

    const shared = waiting.get(key);
    if (shared) return shared.answer.promise;
    if (waiting.size >= maxWaiting) {
      throw new SettlementError("chain_unavailable", `${maxWaiting} payers are waiting for the chain already`, {
        retryable: true,
      });
    }
    const next: Waiting = { key, payer, budgetId, answer: Promise.withResolvers() };
    waiting.set(key, next);
    gathered.push(next);
    if (gathered.length >= maxPayersPerRead) void flush();
    else timer ??= setTimeout(() => void flush(), gatherMs);
    return next.answer.promise;
  };
}

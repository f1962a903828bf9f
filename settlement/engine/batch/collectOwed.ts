import type { Address } from "viem";
import { payableOf } from "../accept/preflight.ts";
import type { EngineContext } from "../context.ts";

// How many payers are looked at each time.
const MAX_PAYERS = 200;

// Looks now and then at payers who owe what the platform does not absorb. Whoever can pay all of it by now is charged at once; the
// others are tried again when their charges are due.
export function createCollectOwed({ ledger, chain, clock, policy }: EngineContext): () => Promise<void> {
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let after: Address | null = null;
  return async () => {
    const nowMs = clock.nowMs();
    if (nowMs >= lookedAtMs && nowMs - lookedAtMs < policy.collectMs) return;
    lookedAtMs = nowMs;
    const owing = await ledger.listOwing(after, MAX_PAYERS);
    // After the last of them it begins again with the first.
    after = owing.length < MAX_PAYERS ? null : (owing.at(-1)?.payer ?? null);
    if (owing.length === 0) return;
    const found = await chain.spendable(owing.map(({ payer }) => payer));
    const able = owing.filter(({ pending }, i) => {
      const spendable = found[i];
      return spendable !== undefined && !spendable.consentRequired && payableOf(spendable) >= pending;
    });
    if (able.length > 0) {
      await ledger.collect(
        able.map(({ payer }) => payer),
        nowMs,
      );
    }
  };
}

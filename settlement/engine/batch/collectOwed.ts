import type { Address } from "viem";
import type { Spendable } from "../../chain/chain.ts";
import { sumOf } from "../../domain/money.ts";
import { hasEnded, type KnownBudget } from "../../domain/payer/budget.ts";
import type { Exposure } from "../../domain/payer/payer.ts";
import { payableOf } from "../accept/preflight/preflight.ts";
import type { EngineContext } from "../context.ts";

// How many payers are looked at each time.
const MAX_PAYERS = 200;

// Looks now and then at payers who owe what the platform does not absorb. Whoever can pay all of it by now is charged at once; the
// others are tried again when their charges are due.
export function createCollectOwed({
  ledger,
  chain,
  clock,
  policy,
}: Pick<EngineContext, "ledger" | "chain" | "clock" | "policy">): () => Promise<void> {
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
    const payers = owing.map(({ payer }) => payer);
    const budgets = await ledger.listBudgetsDue(payers);
    const found = await chain.spendable(payers, budgets);
    const drawnBy = Map.groupBy(budgets, ({ payer }) => payer);
    const able = owing.filter((exposure, i) => canPay(exposure, found[i], drawnBy.get(exposure.payer) ?? []));
    if (able.length > 0) {
      await ledger.collect(
        able.map(({ payer }) => payer),
        nowMs,
      );
    }
  };
}

// What draws on a budget that has ended would fail however much money there is, again and again. So would what draws on none, if the
// payer demands one.
function canPay({ pending }: Exposure, spendable: Spendable | undefined, drawn: readonly KnownBudget[]): boolean {
  if (spendable === undefined || payableOf(spendable) < pending) return false;
  if (spendable.consentRequired && sumOf(drawn.map((budget) => budget.pending)) < pending) return false;
  return drawn.every((budget) => {
    const onChain = spendable.budgets.get(budget.id);
    return onChain !== undefined && !hasEnded(budget, onChain, spendable.timestamp);
  });
}

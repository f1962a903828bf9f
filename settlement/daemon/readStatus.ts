import { formatUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { timeOf } from "./views.ts";

export type Status = Awaited<ReturnType<typeof readStatus>>;

// How things stand, for people.
export async function readStatus(ledger: Ledger) {
  const [totals, gauges, halted] = await Promise.all([ledger.totals(), ledger.gauges(), ledger.halted()]);
  const { accrued, holds } = gauges;
  return {
    totals: {
      accruedUsd: formatUsd(totals.accrued),
      pendingUsd: formatUsd(totals.pending),
      settledUsd: formatUsd(totals.settled),
      absorbedUsd: formatUsd(totals.absorbed),
      refusedUsd: formatUsd(totals.refused),
      voidedUsd: formatUsd(totals.voided),
    },
    waiting: {
      charges: accrued.count,
      amountUsd: formatUsd(accrued.amount),
      oldestDueAt: accrued.oldestDueAtMs === null ? null : timeOf(accrued.oldestDueAtMs),
    },
    sessions: { open: gauges.openSessions, runningCalls: holds.count, heldUsd: formatUsd(holds.amount) },
    submissions: gauges.submissions.map(({ kind, state, count, oldestCreatedAtMs }) => ({
      kind,
      state,
      count,
      oldestCreatedAt: timeOf(oldestCreatedAtMs),
    })),
    debtUsd: formatUsd(gauges.debt),
    halted: halted === null ? null : { reason: halted.reason, since: timeOf(halted.sinceMs) },
  };
}

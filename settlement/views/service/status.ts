import { z } from "zod";
import { formatUsd } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { count, time, timeOf, timeOrNull, usd } from "../shapes.ts";

// How things stand, for people.
export const statusSchema = z
  .object({
    totals: z.object({
      accruedUsd: usd,
      pendingUsd: usd,
      settledUsd: usd,
      absorbedUsd: usd,
      refusedUsd: usd,
      voidedUsd: usd,
    }),
    waiting: z.object({ charges: count, amountUsd: usd, oldestDueAt: time.nullable() }),
    sessions: z.object({ open: count, runningCalls: count, heldUsd: usd }),
    submissions: z.array(
      z.object({
        kind: z.enum(["settle", "payout", "filler", "answer"]),
        state: z.enum(["planned", "submitted", "included", "reverted"]),
        count,
        oldestCreatedAt: time,
      }),
    ),
    debtUsd: usd,
    contests: z.object({ open: count, chargedUsd: usd }),
    halted: z.object({ reason: z.string(), since: time }).nullable(),
  })
  .meta({ id: "Status" });

export type Status = z.infer<typeof statusSchema>;

type Read<Verb extends "readTotals" | "readGauges" | "readHalt"> = Awaited<ReturnType<Ledger[Verb]>>;

export function statusView(totals: Read<"readTotals">, gauges: Read<"readGauges">, halted: Read<"readHalt">): Status {
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
      oldestDueAt: timeOrNull(accrued.oldestDueAtMs),
    },
    sessions: { open: gauges.openSessions, runningCalls: holds.count, heldUsd: formatUsd(holds.amount) },
    submissions: gauges.submissions.map(({ kind, state, count, oldestCreatedAtMs }) => ({
      kind,
      state,
      count,
      oldestCreatedAt: timeOf(oldestCreatedAtMs),
    })),
    debtUsd: formatUsd(gauges.debt),
    contests: { open: gauges.contests.count, chargedUsd: formatUsd(gauges.contests.amount) },
    halted: halted === null ? null : { reason: halted.reason, since: timeOf(halted.sinceMs) },
  };
}

import type { Chain } from "../chain/chain.ts";
import type { Clock } from "../clock.ts";
import { formatUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Readiness } from "./readiness.ts";
import { readStatus } from "./readStatus.ts";
import { timeOf } from "./views.ts";

export type Figures = Awaited<ReturnType<typeof readFigures>>;

export type FiguresSource = { ledger: Ledger; chain: Chain; clock: Clock; readiness: Readiness };

const MINUTE_MS = 60_000;

// Sums, queues and a time line: nothing about any one payer, so that anybody may see it.
export async function readFigures(
  { ledger, chain, clock, readiness }: FiguresSource,
  { minutes, stepSeconds }: { minutes: number; stepSeconds: number },
) {
  const nowMs = clock.nowMs();
  const stepMs = stepSeconds * 1_000;
  // Whole steps, the last of which is still running.
  const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  const [status, timeline, health] = await Promise.all([
    readStatus(ledger),
    ledger.timeline({ fromMs: toMs - minutes * MINUTE_MS, toMs, stepMs }),
    readiness(),
  ]);
  return {
    at: timeOf(nowMs),
    chainId: chain.chainId,
    router: chain.router,
    health,
    ...status,
    minutes,
    stepSeconds,
    timeline: timeline.map((step) => ({
      at: timeOf(step.atMs),
      accruedUsd: formatUsd(step.accrued),
      settledUsd: formatUsd(step.settled),
      absorbedUsd: formatUsd(step.absorbed),
      refusedUsd: formatUsd(step.refused),
      voidedUsd: formatUsd(step.voided),
      accruedCharges: step.accruedCharges,
      settledCharges: step.settledCharges,
      gasUsed: `${step.gasUsed}`,
      latencyMs: step.latencyMs,
    })),
  };
}

import type { Chain } from "../../../chain/chain.ts";
import type { Clock } from "../../../clock.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type Stats, stepView } from "../../../views/service/stats.ts";
import { timeOf } from "../../../views/shapes.ts";
import type { Readiness } from "../readiness.ts";
import { readStatus } from "./readStatus.ts";

export type StatsSource = { ledger: Ledger; chain: Chain; clock: Clock; readiness: Readiness };

const MINUTE_MS = 60_000;

export async function readStats(
  { ledger, chain, clock, readiness }: StatsSource,
  { minutes, stepSeconds }: { minutes: number; stepSeconds: number },
): Promise<Stats> {
  const nowMs = clock.nowMs();
  const stepMs = stepSeconds * 1_000;
  // Whole steps, the last of which is still running.
  const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  const [status, timeline, health] = await Promise.all([
    readStatus(ledger),
    ledger.readTimeline({ fromMs: toMs - minutes * MINUTE_MS, toMs, stepMs }),
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
    timeline: timeline.map(stepView),
  };
}

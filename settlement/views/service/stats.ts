import { z } from "zod";
import { formatUsd } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { address, count, digits, time, timeOf, usd } from "../shapes.ts";
import { readinessSchema } from "./readiness.ts";
import { statusSchema } from "./status.ts";

const stepSchema = z.object({
  at: time,
  accruedUsd: usd,
  settledUsd: usd,
  absorbedUsd: usd,
  refusedUsd: usd,
  voidedUsd: usd,
  accruedCharges: count,
  settledCharges: count,
  gasUsed: digits,
  latencyMs: z.number().nonnegative(),
});

// Sums, queues and a time line: nothing about any one payer, so that anybody may see it.
export const statsSchema = statusSchema
  .extend({
    at: time,
    chainId: count,
    router: address,
    health: readinessSchema,
    minutes: count,
    stepSeconds: count,
    timeline: z.array(stepSchema),
  })
  .meta({ id: "Stats" });

export type Stats = z.infer<typeof statsSchema>;

type Step = Awaited<ReturnType<Ledger["readTimeline"]>>[number];

export function stepView(step: Step): z.infer<typeof stepSchema> {
  return {
    at: timeOf(step.atMs),
    accruedUsd: formatUsd(step.accrued),
    settledUsd: formatUsd(step.settled),
    absorbedUsd: formatUsd(step.absorbed),
    refusedUsd: formatUsd(step.refused),
    voidedUsd: formatUsd(step.voided),
    accruedCharges: step.accruedCharges,
    settledCharges: step.settledCharges,
    gasUsed: `${step.gasUsed}`,
    // For charts and means, where a rounded sum does no harm.
    latencyMs: Number(step.latencyMs),
  };
}

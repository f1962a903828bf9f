import { z } from "zod";
import { type ChargeView, chargeSchema } from "../../../settlement/views/charge.ts";

const charge = chargeSchema.pick({
  chargeId: true,
  for: true,
  toolId: true,
  amountUsd: true,
  state: true,
  batchId: true,
});

// `state` and `batchId` are those of the charge that has come least far; null where there is none.
export const settlementSchema = z.object({
  jobId: z.guid(),
  state: chargeSchema.shape.state.nullable(),
  batchId: chargeSchema.shape.batchId,
  charges: z.array(charge),
});

const WAY: readonly ChargeView["state"][] = ["accrued", "batched", "submitted", "included", "final"];

export function settlementView(jobId: string, charges: readonly ChargeView[] | null): z.infer<typeof settlementSchema> {
  const byProgress = (charges ?? []).toSorted((a, b) => WAY.indexOf(a.state) - WAY.indexOf(b.state));
  // What has ended otherwise is not on its way any more, and speaks only if nothing else does.
  const slowest = byProgress.find(({ state }) => WAY.includes(state)) ?? byProgress[0];
  return {
    jobId,
    state: slowest?.state ?? null,
    batchId: slowest?.batchId ?? null,
    charges: (charges ?? []).map(({ chargeId, for: subject, toolId, amountUsd, state, batchId }) => ({
      chargeId,
      for: subject,
      toolId,
      amountUsd,
      state,
      batchId,
    })),
  };
}

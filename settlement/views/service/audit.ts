import { z } from "zod";
import { count, time, timeOf, timeOrNull } from "../shapes.ts";

export const auditSchema = z
  .object({
    runningSince: time.nullable(),
    last: z
      .object({
        startedAt: time,
        durationMs: z.number().nonnegative(),
        // How many batches the chain has; null if the audit found differences, or could not be done.
        batches: count.nullable(),
        differences: z.array(z.string()),
        // Why there is no verdict.
        failure: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Audit" });

export type AuditView = z.infer<typeof auditSchema>;

export type AuditReport = Omit<NonNullable<AuditView["last"]>, "startedAt"> & { startedAtMs: number };

export function auditView(runningSinceMs: number | null, last: AuditReport | null): AuditView {
  if (last === null) return { runningSince: timeOrNull(runningSinceMs), last };
  const { startedAtMs, ...report } = last;
  return { runningSince: timeOrNull(runningSinceMs), last: { startedAt: timeOf(startedAtMs), ...report } };
}

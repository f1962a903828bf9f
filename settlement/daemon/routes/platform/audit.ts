import { z } from "zod";
import type { AuditReport } from "../../auditor.ts";
import { route } from "../../route.ts";
import { timeOf } from "../../views.ts";

export const auditRoutes = [
  route({
    method: "GET",
    path: "/v1/audit",
    access: "platform",
    summary:
      "What the last audit of the ledger against the chain found; run=yes begins another one, at most one at a time",
    query: z.strictObject({ run: z.literal("yes", 'has to be "yes"').optional() }),
    async handle({ query: { run }, services: { auditor } }) {
      if (run === "yes") auditor.start();
      const runningSinceMs = auditor.runningSinceMs();
      const last = auditor.last();
      return {
        body: {
          runningSince: runningSinceMs === null ? null : timeOf(runningSinceMs),
          last: last === null ? null : reportView(last),
        },
      };
    },
  }),
];

export function reportView({ startedAtMs, durationMs, batches, differences, failure }: AuditReport) {
  return { startedAt: timeOf(startedAtMs), durationMs, batches, differences, failure };
}

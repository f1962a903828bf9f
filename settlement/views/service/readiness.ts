import { z } from "zod";

const componentSchema = z.object({ ok: z.boolean(), reason: z.string() });

// Whether a process can do its work, with a reason for each part that it needs.
export const readinessSchema = z
  .object({
    ready: z.boolean(),
    components: z.object({
      ledger: componentSchema,
      chain: componentSchema,
      operators: componentSchema,
      settlement: componentSchema,
      loop: componentSchema,
    }),
  })
  .meta({ id: "Readiness" });

export type Component = z.infer<typeof componentSchema>;
export type ReadinessReport = z.infer<typeof readinessSchema>;

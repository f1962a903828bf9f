import { z } from "zod";

const componentSchema = z.object({ ok: z.boolean(), reason: z.string() });

// Whether the marketplace can do its work, with a reason for each part that it needs.
export const readinessSchema = z
  .object({
    ready: z.boolean(),
    components: z.object({ database: componentSchema, settlement: componentSchema, chain: componentSchema }),
  })
  .meta({ id: "Readiness" });

export type Readiness = () => Promise<z.infer<typeof readinessSchema>>;

type Component = z.infer<typeof componentSchema>;

const TIMEOUT_MS = 3_000;
// Anybody may ask, and each answer asks the chain and the daemon: a crowd is told what the first one was.
const KEPT_MS = 1_000;

export function createReadiness(checks: {
  database: () => Promise<unknown>;
  settlement: () => Promise<unknown>;
  chain: () => Promise<unknown>;
}): Readiness {
  async function lookAtAll() {
    const [database, settlement, chain] = await Promise.all([
      look(checks.database),
      look(checks.settlement),
      look(checks.chain),
    ]);
    return { ready: database.ok && settlement.ok && chain.ok, components: { database, settlement, chain } };
  }
  let looked: { at: number; report: ReturnType<typeof lookAtAll> } | undefined;
  return async () => {
    const nowMs = performance.now();
    if (looked === undefined || nowMs - looked.at >= KEPT_MS) looked = { at: nowMs, report: lookAtAll() };
    return looked.report;
  };
}

async function look(check: () => Promise<unknown>): Promise<Component> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Component>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: `no answer within ${TIMEOUT_MS} ms` }), TIMEOUT_MS);
  });
  try {
    return await Promise.race([check().then((): Component => ({ ok: true, reason: "it answers" })), late]);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : "it failed" };
  } finally {
    clearTimeout(timer);
  }
}

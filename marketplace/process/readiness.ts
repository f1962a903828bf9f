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

type Part = "database" | "settlement" | "chain";

// The world may read the answer, and what an error says may name machines: that is for `failed`, which tells the operator.
export function createReadiness(
  checks: Readonly<Record<Part, () => Promise<unknown>>>,
  failed: (part: Part, error: unknown) => void,
): Readiness {
  async function lookAtAll() {
    const lookAt = (part: Part) => look(checks[part], (error) => failed(part, error));
    const [database, settlement, chain] = await Promise.all([
      lookAt("database"),
      lookAt("settlement"),
      lookAt("chain"),
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

async function look(check: () => Promise<unknown>, failed: (error: unknown) => void): Promise<Component> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Component>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: `no answer within ${TIMEOUT_MS} ms` }), TIMEOUT_MS);
  });
  try {
    return await Promise.race([check().then((): Component => ({ ok: true, reason: "it answers" })), late]);
  } catch (error) {
    failed(error);
    return { ok: false, reason: "it failed; the log says why" };
  } finally {
    clearTimeout(timer);
  }
}

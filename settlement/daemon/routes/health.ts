import type { FastifyInstance } from "fastify";
import { z } from "zod";

const draining = z.object({ ready: z.literal(false), draining: z.literal(true) });

// `/health`: the process answers. `/ready`: it can do its work, with a reason for each part.
export function registerHealth<Report extends { ready: boolean }>(
  app: FastifyInstance,
  readinessSchema: z.ZodType<Report>,
  readiness: () => Promise<Report>,
  isDraining: () => boolean,
): void {
  const health = {
    tags: ["health"],
    summary: "Whether the process answers",
    response: { 200: z.object({ status: z.literal("ok") }) },
  };
  app.get("/health", { config: { documented: health } }, async () => ({ status: "ok" }));
  const ready = {
    tags: ["health"],
    summary: "Whether the process can do its work, with a reason for each part that it needs",
    response: { 200: readinessSchema, 503: z.union([readinessSchema, draining]) },
  };
  app.get("/ready", { config: { documented: ready } }, async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ ready: false, draining: true });
    const report = await readiness();
    return reply.code(report.ready ? 200 : 503).send(report);
  });
}

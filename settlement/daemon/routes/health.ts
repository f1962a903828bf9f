import type { FastifyInstance } from "fastify";
import type { Readiness } from "../readiness.ts";

// `/health`: the process answers. `/ready`: it can do its work, with a reason for each part.
export function registerHealth(app: FastifyInstance, readiness: Readiness, isDraining: () => boolean): void {
  app.get("/health", async () => ({ status: "ok" }));
  app.get("/ready", async (_request, reply) => {
    if (isDraining()) return reply.code(503).send({ ready: false, draining: true });
    const report = await readiness();
    return reply.code(report.ready ? 200 : 503).send(report);
  });
}

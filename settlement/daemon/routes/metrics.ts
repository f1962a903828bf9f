import type { FastifyInstance } from "fastify";
import type { Metrics } from "../metrics.ts";

export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.get("/metrics", async (_request, reply) => {
    const text = await metrics.print();
    return reply.header("content-type", metrics.contentType).send(text);
  });
}

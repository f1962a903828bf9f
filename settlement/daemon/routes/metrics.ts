import type { FastifyInstance } from "fastify";
import { z } from "zod";

const response = { 200: { description: "Done", content: { "text/plain": { schema: z.string() } } } };

export type Printable = { contentType: string; print(): Promise<string> };

export function registerMetrics(app: FastifyInstance, metrics: Printable): void {
  const documented = { tags: ["health"], summary: "Metrics in the format of Prometheus", response };
  app.get("/metrics", { config: { documented } }, async (_request, reply) => {
    const text = await metrics.print();
    return reply.header("content-type", metrics.contentType).send(text);
  });
}

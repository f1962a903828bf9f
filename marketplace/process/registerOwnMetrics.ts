import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { RateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";
import { enforceRateLimit } from "../../settlement/daemon/http/registerRoutes.ts";
import type { Printable } from "../../settlement/daemon/routes/metrics.ts";

export type OwnMetricsOptions = {
  metrics: Printable;
  // Null: nobody reads them.
  token: string | null;
  limitUnauthenticated: RateLimit;
};

const response = { 200: { description: "Done", content: { "text/plain": { schema: z.string() } } } };

// The marketplace is the one process that the world reaches, and a proxy on the same machine comes from the loopback like its
// operator does. So its metrics are read with a token, and by nobody where none is set.
export function registerOwnMetrics(
  app: FastifyInstance,
  { metrics, token, limitUnauthenticated }: OwnMetricsOptions,
): void {
  const documented = {
    tags: ["health"],
    summary: "Metrics in the format of Prometheus, for who has the token",
    response,
  };
  const admit = (authorization: string | undefined, ip: string, reply: FastifyReply) => {
    if (token !== null && isSame(authorization ?? "", `Bearer ${token}`)) return;
    enforceRateLimit(limitUnauthenticated(ip), reply);
    throw new ApiError(
      "unauthorized",
      "metrics are read with a header Authorization: Bearer and the token that is set for them",
    );
  };
  app.get("/metrics", { config: { documented } }, async (request, reply) => {
    admit(request.headers.authorization, request.ip, reply);
    const text = await metrics.print();
    return reply.header("content-type", metrics.contentType).send(text);
  });
}

// Takes as long for a guess that is almost right as for any other.
const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
const digest = (text: string) => hash("sha256", text, "buffer");

import type { FastifyInstance } from "fastify";
import { ApiError } from "../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    // Where a route may take longer than the others.
    answerTimeoutMs?: number;
  }
}

// Longer than a read of the chain takes with its retries.
export const ANSWER_TIMEOUT_MS = 30_000;

// Answers in the place of a handler that does not. Fastify's own bound ends when Node closes the request, which it does as
// soon as the body was read, so that a write would have none. What the handler does later is in the ledger as if its answer
// had been lost on the way, and a retry under the same key finds it there.
export function answerInTime(app: FastifyInstance, timeoutMs: number): void {
  app.addHook("onRequest", async (request, reply) => {
    const timer = setTimeout(() => {
      if (reply.sent || reply.raw.headersSent) return;
      reply.send(new ApiError("unavailable", "this took too long; try again later"));
    }, request.routeOptions.config.answerTimeoutMs ?? timeoutMs);
    reply.raw.once("close", () => clearTimeout(timer));
  });
}

import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

const POLL_MS = 10;

// Returns what closes the server: it takes no more connections, finishes the requests that run, and then cuts off whoever
// is still connected. Node waits for those by itself, and a connection that was opened ahead of a request, as browsers and
// load balancers do, would hold up the end for a minute.
export function createCloseServer(app: FastifyInstance, maxWaitMs: number): () => Promise<void> {
  const running = new Set<ServerResponse>();
  app.addHook("onRequest", async (_request, reply) => {
    running.add(reply.raw);
    reply.raw.once("close", () => running.delete(reply.raw));
  });
  return async () => {
    const closed = app.close();
    const untilMs = performance.now() + maxWaitMs;
    while ([...running].some(isUnanswered) && performance.now() < untilMs) await pause(POLL_MS);
    app.server.closeAllConnections();
    await closed;
  };
}

// A stream of events has no end of its own.
const isUnanswered = (response: ServerResponse) =>
  !(response.headersSent && String(response.getHeader("content-type")).startsWith("text/event-stream"));

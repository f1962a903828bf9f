import type { FastifyInstance } from "fastify";

const HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "idempotency-replayed, retry-after, x-context-job-id",
};

const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST, PATCH, DELETE",
  "access-control-allow-headers": "authorization, content-type, idempotency-key, mcp-protocol-version",
  "access-control-max-age": "86400",
};

// The SDK runs in browsers too. Any page may ask: whoever asks shows a key in a header, which no browser adds by itself, and
// there are no cookies.
export function allowBrowsers(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    if (!request.url.startsWith("/api/") && !request.url.startsWith("/.well-known/")) return;
    reply.headers(HEADERS);
  });
  for (const path of ["/api/*", "/.well-known/*"]) {
    app.options(path, async (_request, reply) => reply.headers(PREFLIGHT).code(204).send());
  }
}

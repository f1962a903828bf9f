import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from "fastify";
import { createLogin } from "../console/login.ts";
import { registerConsole } from "../console/registerConsole.ts";
import { createAuthenticate } from "./authenticate.ts";
import { createCloseServer } from "./closeServer.ts";
import { answerErrors, apiErrorOf, rawAnswerOf } from "./errors.ts";
import type { Metrics } from "./metrics.ts";
import { createRateLimit } from "./rateLimit.ts";
import { registerRoutes } from "./registerRoutes.ts";
import type { Route, Services } from "./route.ts";
import { registerDocs } from "./routes/docs.ts";
import { registerHealth } from "./routes/health.ts";
import { routes as allRoutes } from "./routes/index.ts";
import { registerMetrics } from "./routes/metrics.ts";

export type DaemonOptions = {
  services: Services;
  serviceToken: string;
  // Absent: no console, and nothing of the ledger is public.
  console?: { token: string | null };
  rateLimitPerSecond: number;
  log: FastifyBaseLogger;
  metrics: Metrics;
  routes?: readonly Route[];
};

export type Daemon = {
  // Not listening yet. Whatever else is served is registered on it before it is.
  app: FastifyInstance;
  // From now on nothing is written any more; what is running is finished by `close`.
  drain(): void;
  close(): Promise<void>;
};

// A turn of 100 tools takes 12 KiB.
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
const MAX_HEADERS = 64;
const MAX_PARAMETER_LENGTH = 256;
// From the first byte of a request to its last.
const REQUEST_TIMEOUT_MS = 10_000;
// Longer than a read of the chain takes with its retries.
const HANDLER_TIMEOUT_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 60_000;
const STRANGERS_PER_SECOND = 10;
// An open page of the console asks about once in two seconds.
const PUBLIC_PER_SECOND = 50;

// The HTTP API around an opened engine.
export function createDaemon(options: DaemonOptions): Daemon {
  const { services, serviceToken, rateLimitPerSecond, log, metrics, routes = allRoutes } = options;
  const { ledger, clock, readiness } = services;
  const login = options.console ? createLogin({ token: options.console.token, clock }) : null;
  const limitStranger = createRateLimit({ perSecond: STRANGERS_PER_SECOND, clock });
  let draining = false;

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // Fastify's own answer while it closes has another form; writes are refused by the gate.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    // Keys like __proto__ are refused and never merged into anything.
    onProtoPoisoning: "error",
    onConstructorPoisoning: "error",
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawAnswerOf(error.code));
      else socket.destroy();
    },
    // An address that cannot be decoded belongs to no route, and is answered like everything else.
    frameworkErrors: (error, _request, reply) => {
      const { status, body } = apiErrorOf(error);
      (reply as FastifyReply).code(status).send(body);
    },
  });
  app.server.maxHeadersCount = MAX_HEADERS;
  const close = createCloseServer(app, HANDLER_TIMEOUT_MS);
  acceptEmptyBodies(app);
  answerErrors(app);
  // An answer may hold an API key or somebody's sums: nothing on the way keeps it, or takes it for anything but what it is.
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    const path = routeOptions.url ?? "unknown";
    metrics.observeRequest(method, path, reply.statusCode, reply.elapsedTime);
    request.log.debug(
      { method, path, status: reply.statusCode, durationMs: Math.round(reply.elapsedTime) },
      "answered",
    );
  });

  registerRoutes(app, routes, services, {
    authenticate: createAuthenticate({ ledger, serviceToken, login }),
    limitCaller: createRateLimit({ perSecond: rateLimitPerSecond, clock }),
    limitStranger,
    limitPublic: createRateLimit({ perSecond: PUBLIC_PER_SECOND, clock }),
    isDraining: () => draining,
  });
  registerHealth(app, readiness, () => draining);
  registerMetrics(app, metrics);
  registerDocs(app, routes);
  if (login !== null) registerConsole(app, login, limitStranger);

  return {
    app,
    drain() {
      draining = true;
    },
    close,
  };
}

// Some writes need nothing but their address; clients send them with a JSON type and no body.
function acceptEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, body as string, done);
  });
}

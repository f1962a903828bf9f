import { isUtf8 } from "node:buffer";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, LogController } from "fastify";
import { ApiError, answerErrors, apiErrorOf, EVERY_ANSWER } from "../errors.ts";
import { ANSWER_TIMEOUT_MS, answerInTime } from "./answerInTime.ts";
import { answerUnreadable, refuseExpectation, refuseTunnel } from "./answerUnreadable.ts";
import { createCloseServer } from "./closeServer.ts";

export type ServerOptions = {
  log: FastifyBaseLogger;
  observeRequest: (method: string, path: string, status: number, durationMs: number) => void;
  answerTimeoutMs?: number;
  // What a process allows beyond the daemon's own limits.
  limits?: Partial<typeof LIMITS>;
  // Addresses of proxies whose word on who asks is taken.
  trustProxy?: string[];
};

export type Server = {
  app: FastifyInstance;
  // Takes no more connections and finishes the requests that run.
  close(): Promise<void>;
};

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_HEADERS = 64;
const MAX_PARAMETER_LENGTH = 256;
const LIMITS = {
  // A turn of 100 tools takes 12 KiB.
  maxBodyBytes: 64 * 1024,
  // From the first byte of a request to its last.
  requestTimeoutMs: 10_000,
  connectionTimeoutMs: 60_000,
};

// Fastify with limits on everything that a request can be, and one shape for every error. It has no routes yet.
export function createServer(options: ServerOptions): Server {
  const { log, observeRequest, answerTimeoutMs = ANSWER_TIMEOUT_MS, trustProxy = [] } = options;
  const { maxBodyBytes, requestTimeoutMs, connectionTimeoutMs } = { ...LIMITS, ...options.limits };
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    // Fastify's own answer while it closes has another form; writes are refused by the gate.
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    // Node would answer a request without a Host by itself, and without a body.
    http: { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false },
    // Keys like __proto__ are refused and never merged into anything.
    onProtoPoisoning: "error",
    onConstructorPoisoning: "error",
    clientErrorHandler: answerUnreadable,
    // An address that cannot be decoded, or has too long a part, belongs to no route, and is answered like everything else.
    frameworkErrors: (error, request, reply) => {
      const { status, body } = apiErrorOf(error);
      if (status >= 500) request.log.error({ err: error }, "request failed");
      (reply as FastifyReply).code(status).headers(EVERY_ANSWER).send(body);
    },
  });
  app.server.maxHeadersCount = MAX_HEADERS;
  app.server.on("connect", refuseTunnel).on("checkExpectation", refuseExpectation);
  const close = createCloseServer(app, answerTimeoutMs);
  readBodies(app);
  answerErrors(app);
  answerInTime(app, answerTimeoutMs);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(EVERY_ANSWER);
    if (request.raw.httpVersion !== "1.0" && request.headers.host === undefined) {
      throw new ApiError("invalid_request", "send a header Host with the name of this server");
    }
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    const path = routeOptions.url ?? "unknown";
    observeRequest(method, path, reply.statusCode, reply.elapsedTime);
    request.log.debug(
      { method, path, status: reply.statusCode, durationMs: Math.round(reply.elapsedTime) },
      "answered",
    );
  });

  return { app, close };
}

// Routes judge what they take with zod, and none of them has a schema of Fastify's. Its two compilers for those would be loaded at
// every start, and take a twentieth of it.
function refuseSchemas(): never {
  throw new TypeError("a route of this server has a schema of Fastify's: describe it with zod");
}

// Some writes need nothing but their address; clients send them with a JSON type and no body. What cannot be read as it was meant is
// refused: a byte that is no UTF-8 would be taken for another character, and somebody would pay for what he has not asked.
function readBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    const { "content-encoding": encoding = "identity" } = request.headers;
    if (encoding.toLowerCase() !== "identity") {
      done(new ApiError("unsupported_media_type", "the body must be sent without compression"));
    } else if (body.length === 0) done(null, undefined);
    else if (isUtf8(body)) parse(request, body.toString(), done);
    else done(new ApiError("invalid_request", "the body is not valid UTF-8"));
  });
}

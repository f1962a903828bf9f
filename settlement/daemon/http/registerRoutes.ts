import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";
import type { Authenticate } from "./gate/authenticate.ts";
import type { RateLimit } from "./gate/rateLimit.ts";
import { createWithIdempotency, idempotencyKeyOf, newIdOf, type WithIdempotency } from "./gate/withIdempotency.ts";
import { documentedOf } from "./openApi.ts";
import type { Answered, AnsweredText, Asked, Caller, Route, Services } from "./route.ts";
import { validate } from "./validate.ts";

export type Gate = {
  authenticate: Authenticate;
  // For those without a valid token, by address. The platform is bounded by the ledger's queue instead.
  limitUnauthenticated: RateLimit;
  // For those who ask for what is public, by address.
  limitPublic: RateLimit;
  isDraining: () => boolean;
};

const JSON_TYPE = "application/json; charset=utf-8";

// Every route goes the same way: who asks, how often, what exactly, and was it asked before.
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], services: Services, gate: Gate): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const withIdempotency = createWithIdempotency(services);
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      ...(route.maxBodyBytes === undefined ? {} : { bodyLimit: route.maxBodyBytes }),
      config: { documented: documentedOf(route) },
      // Before the body is read, so that nobody can make this side read one without a token.
      onRequest: async (request, reply) => {
        callers.set(request, admit(route, request, reply, gate));
      },
      handler: async (request, reply) => {
        const caller = callers.get(request);
        if (caller === undefined)
          throw new ApiError("unauthorized", "send a header Authorization: Bearer with the service token");
        return answer(route, request, reply, caller, { services, withIdempotency });
      },
    });
  }
}

function admit(route: Route, request: FastifyRequest, reply: FastifyReply, gate: Gate): Caller {
  if (gate.isDraining() && route.method !== "GET") {
    reply.header("connection", "close");
    throw new ApiError("unavailable", "the service is about to stop; try again in a moment");
  }
  let caller: Caller;
  try {
    caller = gate.authenticate(request.headers, route);
  } catch (error) {
    if (error instanceof ApiError) enforceRateLimit(gate.limitUnauthenticated(request.ip), reply);
    throw error;
  }
  if (caller.kind === "anybody") enforceRateLimit(gate.limitPublic(request.ip), reply);
  return caller;
}

export function enforceRateLimit(waitMs: number, reply: FastifyReply): void {
  if (waitMs === 0) return;
  reply.header("retry-after", `${Math.ceil(waitMs / 1_000)}`);
  throw new ApiError("rate_limited", `too many requests; try again in ${waitMs} ms`);
}

async function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  { services, withIdempotency }: { services: Services; withIdempotency: WithIdempotency },
): Promise<FastifyReply> {
  const writes = route.method === "POST";
  // Under which name the caller's Idempotency-Keys are kept.
  const name = caller.kind;
  const key = writes ? idempotencyKeyOf(request.headers["idempotency-key"]) : null;
  const asked = {
    params: validate(route.params, request.params),
    query: validate(route.query, request.query),
    body: validate(route.body, request.body, route.fieldCodes),
    caller,
    newId: newIdOf(name, key),
    request,
    log: request.log,
    services,
  } as Asked<never, never, never>;
  const { status = 200 } = route;
  const work = () => route.handle(asked);
  if (key === null) return send(reply, status, await work());

  const { method, url: path, body } = request;
  const first = await withIdempotency({ caller: name, key, method, path, body }, async () => {
    const answered = await work();
    if ("text" in answered) throw new RangeError("a text is no answer to a write");
    return { status, ...answered };
  });
  if (first.replayed) reply.header("idempotency-replayed", "true");
  return reply.code(first.status).header("content-type", JSON_TYPE).send(first.body);
}

function send(reply: FastifyReply, status: number, answered: Answered | AnsweredText): FastifyReply {
  reply.code(status).headers(answered.headers ?? {});
  if ("text" in answered) return reply.header("content-type", answered.contentType).send(answered.text);
  // A text for Fastify, which it sends as it is: the answer has its type from the schema and is checked in tests only.
  return reply.header("content-type", JSON_TYPE).send(JSON.stringify(answered.body));
}

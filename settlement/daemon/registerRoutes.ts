import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answerOnce, idempotencyKeyOf, newIdOf } from "./answerOnce.ts";
import { type Authenticate, nameOf } from "./authenticate.ts";
import { ApiError } from "./errors.ts";
import type { RateLimit } from "./rateLimit.ts";
import type { Answered, Asked, Caller, Route, Services } from "./route.ts";
import { validate } from "./validate.ts";

export type Gate = {
  authenticate: Authenticate;
  // For callers with an API key. The platform is bounded by the ledger's queue instead.
  limitCaller: RateLimit;
  // For those without a valid key, by address.
  limitStranger: RateLimit;
  // For those who ask for what is public, by address.
  limitPublic: RateLimit;
  isDraining: () => boolean;
};

const JSON_TYPE = "application/json; charset=utf-8";

// Every route goes the same way: who asks, how often, what exactly, and was it asked before.
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], services: Services, gate: Gate): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      // Before the body is read, so that a stranger cannot make this side read one.
      onRequest: async (request, reply) => {
        const caller = await admit(route, request, reply, gate);
        callers.set(request, caller);
      },
      handler: async (request, reply) => {
        const caller = callers.get(request);
        if (caller === undefined)
          throw new ApiError("unauthorized", "Send a header Authorization: Bearer with your key.");
        return answer(route, request, reply, caller, services);
      },
    });
  }
}

async function admit(route: Route, request: FastifyRequest, reply: FastifyReply, gate: Gate): Promise<Caller> {
  if (gate.isDraining() && route.method !== "GET") {
    reply.header("connection", "close");
    throw new ApiError("unavailable", "The service is about to stop; try again in a moment.");
  }
  let caller: Caller;
  try {
    caller = await gate.authenticate(request.headers, route);
  } catch (error) {
    if (error instanceof ApiError) slowDown(gate.limitStranger(request.ip), reply);
    throw error;
  }
  if (caller.kind === "payer") slowDown(gate.limitCaller(caller.apiKey.id), reply);
  if (caller.kind === "anybody") slowDown(gate.limitPublic(request.ip), reply);
  // What a browser is shown stays nowhere on its disk.
  if (caller.kind === "console") reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  return caller;
}

export function slowDown(waitMs: number, reply: FastifyReply): void {
  if (waitMs === 0) return;
  reply.header("retry-after", `${Math.ceil(waitMs / 1_000)}`);
  throw new ApiError("rate_limited", `Too many requests; try again in ${waitMs} ms.`);
}

async function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  services: Services,
): Promise<FastifyReply> {
  const { ledger, clock } = services;
  const writes = route.method === "POST";
  const name = nameOf(caller);
  const key = writes ? idempotencyKeyOf(request.headers["idempotency-key"]) : null;
  const asked = {
    params: validate(route.params, request.params),
    query: validate(route.query, request.query),
    body: validate(route.body, request.body, route.fieldCodes),
    caller,
    newId: newIdOf(name, key),
    log: request.log,
    services,
  } as Asked<never, never, never>;
  const work = () => route.handle(asked);
  if (key === null) return send(reply, await work());

  const { method, url: path, body } = request;
  const first = await answerOnce(ledger, clock, { caller: name, key, method, path, body }, work);
  if (first.replayed) reply.header("idempotency-replayed", "true");
  return reply.code(first.status).header("content-type", JSON_TYPE).send(first.body);
}

function send(reply: FastifyReply, { status = 200, body, contentType, headers = {} }: Answered): FastifyReply {
  reply.code(status).headers(headers);
  if (contentType !== undefined) return reply.header("content-type", contentType).send(body);
  return reply.header("content-type", JSON_TYPE).send(JSON.stringify(body));
}

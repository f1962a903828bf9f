import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { RateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";
import { documentedOf } from "../../settlement/daemon/http/openApi.ts";
import { enforceRateLimit } from "../../settlement/daemon/http/registerRoutes.ts";
import type { Asked, Route } from "../../settlement/daemon/http/route.ts";
import { validate } from "../../settlement/daemon/http/validate.ts";
import type { Deliveries } from "../delivery/createDeliveries.ts";
import type { Authenticate } from "./authenticate.ts";
import { networkOf } from "./networkOf.ts";
import type { Access, Caller, MarketRoute, Services } from "./route.ts";

export type Gate = {
  authenticate: Authenticate;
  // By account, for those with a key.
  limitAccount: RateLimit;
  // By account too, for calls, for questions with their jobs, and for messages to the MCP front, each with a bucket of its own: a hundred
  // questions delay no call.
  paceAccount: RateLimit;
  // By address: for those without one, and for those who show a wrong one.
  limitAnybody: RateLimit;
  limitUnauthenticated: RateLimit;
  isDraining: () => boolean;
  deliveries: Pick<Deliveries, "admit">;
};

// The public SDKs take a 429 for final, and one that has a hundred questions looks at a hundred jobs at once, as agents make a hundred
// calls. So whoever is ahead of its rate here is kept waiting for this long, and only then refused.
export const MAX_PACED_MS = 5_000;

const JSON_TYPE = "application/json; charset=utf-8";

// Every route goes the same way: who asks, how often, and what exactly.
export function registerRoutes(
  app: FastifyInstance,
  routes: readonly MarketRoute[],
  services: Services,
  gate: Gate,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      config: {
        documented: documented(route),
        ...(route.answerTimeoutMs !== undefined && { answerTimeoutMs: route.answerTimeoutMs }),
      },
      // Before the body is read, so that nobody can make this side read one without a key.
      onRequest: async (request, reply) => {
        callers.set(request, await admit(route, request, reply, gate));
      },
      handler: async (request, reply) => {
        const caller = callers.get(request) ?? { kind: "anybody" };
        return answer(route, request, reply, caller, services);
      },
    });
  }
}

export async function admit(
  { method, access, paced }: Pick<MarketRoute, "method" | "access" | "paced">,
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
): Promise<Caller> {
  if (gate.isDraining() && method !== "GET") {
    reply.header("connection", "close");
    throw new ApiError("unavailable", "the marketplace is about to stop; try again in a moment");
  }
  let caller: Caller;
  try {
    caller = await gate.authenticate(request.headers.authorization, access);
  } catch (error) {
    if (error instanceof ApiError) enforceRateLimit(gate.limitUnauthenticated(request.ip), reply);
    throw error;
  }
  if (caller.kind === "account" && paced !== undefined) {
    const waitMs = gate.paceAccount(`${paced} ${caller.account}`);
    if (waitMs > MAX_PACED_MS) enforceRateLimit(waitMs - MAX_PACED_MS, reply);
    if (waitMs > 0) await pause(waitMs);
  } else if (caller.kind === "account") enforceRateLimit(gate.limitAccount(caller.account), reply);
  else enforceRateLimit(gate.limitAnybody(request.ip), reply);
  const reader = readerOf(caller, request);
  gate.deliveries.admit(reader);
  readers.set(request, reader);
  return caller;
}

const readers = new WeakMap<FastifyRequest, string>();

const readerOf = (caller: Caller, { ip }: FastifyRequest) =>
  caller.kind === "account" ? caller.account : networkOf(ip);

// Under which name what is sent in answer to a request is counted, once it was let in.
export const readerOfAdmitted = (request: FastifyRequest) => readers.get(request) ?? networkOf(request.ip);

async function answer(
  route: MarketRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  services: Services,
): Promise<FastifyReply> {
  const asked = {
    params: validate(route.params, request.params),
    query: validate(route.query, request.query),
    body: validate(route.body, request.body, route.fieldCodes),
    caller,
    newId: randomUUID,
    request,
    log: request.log,
    services,
  } as Asked<never, never, never, Caller, Services>;
  const answered = await route.handle(asked);
  reply.code(route.status ?? 200).headers(answered.headers ?? {});
  if ("text" in answered) {
    const { status = reply.statusCode, contentType, text } = answered;
    return reply.code(status).header("content-type", contentType).send(text);
  }
  return reply.header("content-type", JSON_TYPE).send(JSON.stringify(answered.body));
}

// One of these is enough; the empty one is nothing at all.
const SECURITY: Readonly<Record<Access, readonly Record<string, never[]>[]>> = {
  anybody: [{}, { key: [] }],
  account: [{ key: [] }, { login: [] }],
  login: [{ login: [] }],
};

// What a route says of itself in the document. An Idempotency-Key is for the routes that say so themselves.
function documented(route: MarketRoute) {
  const { headers: _, ...document } = documentedOf(route as unknown as Route);
  return { ...document, security: SECURITY[route.access], tags: [route.path.split("/")[3] ?? ""] };
}

// What the document says beside its routes.
export const OPEN_API = {
  openapi: "3.1.0",
  info: {
    title: "Context marketplace",
    version: "1",
    description:
      "Find tools and pay for them by the call. Money is decimal US dollars as a text. Times are ISO 8601. Tools and " +
      "sessions are UUIDs. Every error has one shape, and its `code` stays the same between versions.",
  },
  components: {
    securitySchemes: {
      key: { type: "http", scheme: "bearer", description: "An API key, sk_live_…" },
      login: { type: "http", scheme: "bearer", description: "A login by a wallet's signature, login_…" },
    },
  },
} as const;

import type { FastifySchema } from "fastify";
import { z } from "zod";
import { type ApiCode, errorSchema, statusOf } from "./errors.ts";
import { nothing } from "./fields.ts";
import type { Route } from "./route.ts";

// What a route says of itself in the document. Fastify itself is told nothing of it: requests are checked by the gate, which
// needs them as they were sent too, and answers are texts by the time it sees them.
export type Documented = FastifySchema & Record<string, unknown>;

declare module "fastify" {
  interface FastifyContextConfig {
    documented?: Documented;
  }
}

// What the document says beside its routes.
export const OPEN_API = {
  openapi: "3.1.0",
  info: {
    title: "Context settlement",
    version: "1",
    description:
      "Money is decimal US dollars as a text with at most 6 decimals. Times are ISO 8601. Tools are UUIDs. " +
      "Every error has one shape, and its `code` stays the same between versions.",
  },
  components: {
    securitySchemes: {
      platform: { type: "http", scheme: "bearer", description: "The service token" },
      console: { type: "apiKey", in: "cookie", name: "settlement_console", description: "A login to the console" },
    },
  },
} as const;

const idempotencyKey = z.object({
  "Idempotency-Key": z
    .string()
    .min(1)
    .optional()
    .meta({ description: "The same key again, with the same request, is answered as the first one was" }),
});

// The same schemas that requests are checked with and answers are typed by.
export function documentedOf(route: Route): Documented {
  const { params, query, body, example, method, path, summary } = route;
  return {
    summary,
    tags: [tagOf(path)],
    security: securityOf(route),
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && body !== nothing && { body }),
    ...(example && { example }),
    ...(method === "POST" && { headers: idempotencyKey }),
    response: { [route.status ?? 200]: answerOf(route), ...errorsOf(route) },
  };
}

function answerOf({ answer, textTypes = [] }: Route) {
  const texts = textTypes.map((type) => [type, { schema: z.string() }] as const);
  return { description: "Done", content: Object.fromEntries([["application/json", { schema: answer }], ...texts]) };
}

// What can happen on every route, and what its own handler adds.
function errorsOf({ method, params, query, body, fieldCodes = {}, errors = [] }: Route) {
  const codes = new Set<ApiCode>(["unauthorized", "rate_limited", "internal", "unavailable"]);
  if (params || query || body) codes.add("invalid_request");
  // A part of the address that is too long to be anything's name.
  if (params) codes.add("not_found");
  if (method === "POST") {
    for (const code of ["idempotency_conflict", "too_large", "unsupported_media_type"] as const) codes.add(code);
  }
  for (const code of [...Object.values(fieldCodes), ...errors]) codes.add(code);
  const byStatus = Map.groupBy(codes, statusOf);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      status,
      { description: own.join(", "), content: { "application/json": { schema: errorSchema } } },
    ]),
  );
}

// One of these is enough; the empty one is nothing at all.
function securityOf({ access, method, console }: Route): Record<string, never[]>[] {
  const known = method === "GET" || console === true ? [{ platform: [] }, { console: [] }] : [{ platform: [] }];
  return access === "public" ? [{}, ...known] : known;
}

// Routes are listed by what they are about.
const tagOf = (path: string): string => path.split("/")[2] ?? "";

import { z } from "zod";
import type { Route } from "./route.ts";

const ERROR = {
  type: "object",
  required: ["error", "code"],
  properties: {
    error: { type: "string", description: "A sentence for people" },
    code: { type: "string", description: "Stays the same between versions" },
    helpUrl: { type: "string" },
    session: { type: "object" },
  },
};

type JsonSchema = { properties?: Record<string, unknown>; required?: string[] };

export type OpenApi = ReturnType<typeof openApiOf>;

// The document is made from the same schemas that requests are checked with.
export function openApiOf(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Context settlement",
      version: "1",
      description:
        "Money is decimal US dollars as a text with at most 6 decimals. Times are ISO 8601. Tools are UUIDs.",
    },
    components: {
      securitySchemes: {
        payer: { type: "http", scheme: "bearer", description: "A payer's API key, sk_live_…" },
        platform: { type: "http", scheme: "bearer", description: "The service token" },
        console: { type: "apiKey", in: "cookie", name: "settlement_console", description: "A login to the console" },
      },
      schemas: { Error: ERROR },
    },
    paths,
  };
}

function operationOf(route: Route) {
  const parameters = [...parametersOf("path", route.params), ...parametersOf("query", route.query)];
  if (route.method === "POST") {
    parameters.push({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      schema: { type: "string", minLength: 1, maxLength: 200 },
    });
  }
  return {
    summary: route.summary,
    security: securityOf(route),
    parameters,
    ...(route.body && { requestBody: { content: { "application/json": { schema: schemaOf(route.body) } } } }),
    responses: {
      "2XX": { description: "Done" },
      default: {
        description: "The protocol's error answer",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

// One of these is enough; the empty one is nothing at all.
function securityOf({ access, method }: Route): Record<string, never[]>[] {
  if (access === "payer") return [{ payer: [] }];
  const read = method === "GET" ? [{ platform: [] }, { console: [] }] : [{ platform: [] }];
  return access === "public" ? [{}, ...read] : read;
}

function parametersOf(place: "path" | "query", schema: z.ZodType | undefined) {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place as string,
    required: required.includes(name),
    schema: property,
  }));
}

function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest as JsonSchema;
}

import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../marketplace/api/routes/index.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openMarketplace } from "./openMarketplace.ts";

type Schema = {
  $ref?: string;
  example?: unknown;
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
};
type Media = { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> };
type Operation = {
  summary?: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: object }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

describe("the marketplace's OpenAPI document", () => {
  let database: Store;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let document: Document;

  beforeAll(async () => {
    const create = backends[0]?.create ?? (() => Promise.reject(new Error("there is no database")));
    database = await create();
    market = await openMarketplace(database);
    document = (await market.app.inject("/openapi.json")).json();
  });
  afterAll(async () => {
    await market?.close();
    await database?.remove();
  });

  const operationOf = ({ method, path }: { method: string; path: string }) =>
    document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];

  // What the page of the document shows to try: the example of a body, or what its required fields have as theirs.
  function exampleOf(schema: Schema): unknown {
    if (schema.$ref !== undefined)
      return exampleOf(document.components?.schemas?.[schema.$ref.split("/").pop() ?? ""] ?? {});
    const [own] = [schema.example, ...(schema.examples ?? []), schema.const, ...(schema.enum ?? [])].filter(
      (value) => value !== undefined,
    );
    if (own !== undefined) return own;
    if (schema.anyOf?.[0] !== undefined) return exampleOf(schema.anyOf[0]);
    const { properties = {}, required = [] } = schema;
    return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]));
  }

  it("is valid OpenAPI", async () => {
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
  });

  it("has every route, with what it answers", () => {
    for (const route of routes) {
      const operation = operationOf(route);
      expect(operation?.summary, route.path).toBe(route.summary);
      expect(Object.values(operation?.responses ?? {}).length, route.path).toBeGreaterThan(1);
    }
  });

  it("has an example of every body, which its route takes", () => {
    for (const route of routes) {
      if (route.body === undefined || route.body.safeParse(undefined).success) continue;
      const {
        schema = {},
        example,
        examples = {},
      } = operationOf(route)?.requestBody?.content["application/json"] ?? {};
      const shown = example ?? Object.values(examples)[0]?.value ?? exampleOf(schema);
      const { success, error } = route.body.safeParse(shown);
      expect(success, `${route.method} ${route.path}: ${error?.message}`).toBe(true);
    }
  });
});

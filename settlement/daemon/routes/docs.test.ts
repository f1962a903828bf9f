import { Validator } from "@seriousme/openapi-schema-validator";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../clock.ts";
import type { Services } from "../http/route.ts";
import { createMetrics } from "../observability/metrics.ts";
import { createDaemon, type Daemon } from "../process/createDaemon.ts";
import { routes } from "./index.ts";

type Operation = {
  summary?: string;
  requestBody?: object;
  security?: Record<string, string[]>[];
  responses: Record<string, { content?: object }>;
};
type Document = { paths: Record<string, Record<string, Operation>> };

const operationOf = ({ method, path }: { method: string; path: string }) =>
  document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];

let daemon: Daemon;
let document: Document;

beforeAll(async () => {
  daemon = await createDaemon({
    services: { clock: systemClock } as Services,
    serviceToken: "t".repeat(32),
    console: { token: null },
    log: pino({ level: "silent" }),
    metrics: createMetrics(systemClock),
  });
  document = (await daemon.app.inject("/openapi.json")).json();
});
afterAll(() => daemon.close());

it("the document is valid OpenAPI", async () => {
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
});

it("the document has every route, with a schema for every status that it can answer", () => {
  for (const { method, path, summary, body, params } of routes) {
    const operation = operationOf({ method, path });
    expect(operation?.summary, path).toBe(summary);
    expect(Object.keys(operation?.responses ?? {}), path).toEqual(expect.arrayContaining(["401", "429", "500", "503"]));
    // A part of the address can be too long to be anything's name.
    if (params !== undefined) expect(operation?.responses, path).toHaveProperty("404");
    if (body?.safeParse(undefined).success === false) expect(operation?.requestBody, path).toBeDefined();
  }
  for (const operations of Object.values(document.paths)) {
    for (const { responses, summary } of Object.values(operations)) {
      expect(
        Object.values(responses).every(({ content }) => content !== undefined),
        summary,
      ).toBe(true);
    }
  }
});

it("the document says where a login to the console is enough: for every read of the platform, and the writes open to it", () => {
  const opened = routes.filter((route) => operationOf(route)?.security?.some((scheme) => "console" in scheme));
  expect(opened).toEqual(routes.filter(({ method, console }) => method === "GET" || console));
  expect(opened.map(({ method, path }) => `${method} ${path}`)).toContain("POST /v1/audit");
});

it("the page and the document hide what is for browsers only", () => {
  expect(Object.keys(document.paths).filter((path) => /console|docs|openapi/.test(path))).toEqual([]);
});

it("the page loads nothing from elsewhere, and browsers would not let it", async () => {
  const page = await daemon.app.inject("/docs");
  expect(page.statusCode).toBe(200);
  expect(page.headers["content-security-policy"]).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-hashes' 'sha256-[^']+'; img-src/,
  );
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    expect(file).toMatch(/^\/docs\/static\//);
    expect((await daemon.app.inject(file)).statusCode, file).toBe(200);
  }
  expect((await daemon.app.inject("/docs/json")).json()).toEqual(document);
});

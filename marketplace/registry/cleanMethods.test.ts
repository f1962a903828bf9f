import { describe, expect, it } from "vitest";
import type { ListedMethod } from "../mcp/createMcpClient.ts";
import { cleanMethods } from "./cleanMethods.ts";
import { isQueryEligible } from "./listing.ts";

const NO_PRICES = { defaultExecutePriceUsd: null, executePrices: {} };
const methodWith = (meta: unknown, more: Partial<ListedMethod> = {}): ListedMethod => ({
  name: "method",
  inputSchema: { type: "object" },
  ...(meta !== undefined && { _meta: meta as Record<string, unknown> }),
  ...more,
});
const clean = (meta: unknown, prices: Partial<Parameters<typeof cleanMethods>[1]> = {}) => {
  const { methods, warnings } = cleanMethods([methodWith(meta)], { ...NO_PRICES, ...prices });
  const [method] = methods;
  if (method === undefined) throw new Error("it was left out");
  return { method, warnings };
};

describe("what a server says of its methods", () => {
  it("is filled in where it says nothing", () => {
    const { method, warnings } = clean(undefined);
    expect(method).toMatchObject({
      description: "",
      executeEligible: false,
      executePriceUsd: null,
      _meta: { surface: "both", queryEligible: true, latencyClass: "slow", pricing: {} },
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    [{ surface: "everything" }, { surface: "both" }],
    [{ queryEligible: "yes" }, { queryEligible: true }],
    [{ latencyClass: 5 }, { latencyClass: "slow" }],
    [{ pricing: "free" }, { pricing: {} }],
    [{ pricing: { executeUsd: "-1" } }, { pricing: {} }],
    [{ pricing: { executeUsd: "1e-3" } }, { pricing: {} }],
    [{ pricing: { executeUsd: "0.0000001" } }, { pricing: {} }],
    [{ pricing: { executeUsd: Number.NaN } }, { pricing: {} }],
    [{ pricing: { executeUsd: ["0.1"] } }, { pricing: {} }],
    [{ contextRequirements: ["wallet", "bank"] }, { contextRequirements: ["wallet"] }],
    [{ rateLimit: { maxRequestsPerMinute: 1.5, cooldownMs: 0 } }, { rateLimit: { cooldownMs: 0 } }],
    [{ rateLimit: { maxConcurrency: 0, notes: "slow" } }, { rateLimit: { notes: "slow" } }],
    [
      { rateLimit: { recommendedBatchTools: ["method", "other", 1] } },
      { rateLimit: { recommendedBatchTools: ["method"] } },
    ],
    [
      { executeEligible: true, executePriceUsd: 5 },
      { executeEligible: false, executePriceUsd: null },
    ],
  ])("%j is repaired, and the contributor hears of it", (meta, expected) => {
    const { method, warnings } = clean(meta);
    expect(method._meta).toMatchObject(expected);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^method "method": /);
  });

  it("a number for a price is taken, and every price is written in one form", () => {
    expect(clean({ pricing: { executeUsd: 0.001 } }).method.executePriceUsd).toBe("0.001");
    expect(clean({ pricing: { executeUsd: "0.500000" } }).method.executePriceUsd).toBe("0.50");
    expect(clean({ pricing: { executeUsd: "0" } }).method).toMatchObject({
      executeEligible: true,
      executePriceUsd: "0.00",
    });
  });

  it("hints are found under each of their names", () => {
    for (const meta of [{ rateLimit: { cooldownMs: 5 } }, { rateLimitHints: { cooldownMs: 5 } }, { cooldownMs: 5 }]) {
      expect(clean(meta).method._meta.rateLimit).toEqual({ cooldownMs: 5 });
    }
  });

  it("needs for context are found where they were written before", () => {
    const { methods, warnings } = cleanMethods(
      [methodWith({}, { inputSchema: { type: "object", "x-context-requirements": ["wallet"] } })],
      NO_PRICES,
    );
    expect(methods[0]?._meta.contextRequirements).toEqual(["wallet"]);
    expect(warnings[0]).toMatch(/belongs into _meta/);
  });

  it("whatever else it says is passed on, if it is not too much", () => {
    expect(clean({ own: { nested: true } }).method._meta.own).toEqual({ nested: true });
    const { method, warnings } = clean({ own: "x".repeat(20_000), surface: "execute" });
    expect(method._meta.own).toBeUndefined();
    expect(method._meta.surface).toBe("execute");
    expect(warnings).toHaveLength(1);
  });

  // The Python SDK reads its own names of the fields too, and refuses a whole search for a wrong value under one of them.
  it.each([
    ["query_eligible", "queryEligible"],
    ["latency_class", "latencyClass"],
    ["execute_eligible", "pricing.executeUsd"],
    ["execute_price_usd", "pricing.executeUsd"],
    ["context_requirements", "contextRequirements"],
    ["rate_limit", "rateLimit"],
    ["rate_limit_hints", "rateLimit"],
  ])("%s, as Python would write it, is left out, and the contributor hears the right name", (name, right) => {
    const { method, warnings } = clean({ [name]: "nonsense", own: 1 });
    expect(method._meta).not.toHaveProperty(name);
    expect(method._meta.own).toBe(1);
    expect(warnings).toEqual([`method "method": ${name} is left out: the field's name is ${right}`]);
  });

  it("half of a character in a schema leaves the method out, and in what else it says only that", () => {
    for (const schema of [
      { type: "object", "\ud800": 1 },
      { type: "object", properties: { a: { title: "\udc00" } } },
    ]) {
      for (const more of [{ inputSchema: schema }, { outputSchema: schema }]) {
        const { methods, warnings } = cleanMethods([methodWith({}, more)], NO_PRICES);
        expect(methods).toEqual([]);
        expect(warnings[0]).toMatch(
          /^method "method": it is left out: its (in|out)putSchema has characters that nobody sees, or that are no well-formed/,
        );
      }
    }
    for (const own of [{ "\ud800": 1 }, { own: ["\udc00"] }]) {
      const { method, warnings } = clean({ ...own, surface: "execute" });
      expect(method._meta).toEqual({ ...clean({ surface: "execute" }).method._meta });
      expect(warnings).toHaveLength(1);
    }
    expect(clean({ own: "\u{1f600}" }).method._meta.own).toBe("\u{1f600}");
  });

  it("a listing is no longer than a search can bear", () => {
    const long = (name: string) => methodWith({}, { name, inputSchema: { type: "object", title: "x".repeat(60_000) } });
    const listed = Array.from({ length: 20 }, (_, i) => long(`method_${i}`));
    const { methods, warnings } = cleanMethods([...listed, methodWith({}, { name: "short" })], NO_PRICES);
    expect(JSON.stringify(methods).length).toBeLessThanOrEqual(512 * 1_024);
    expect(methods.map(({ name }) => name)).toEqual([...listed.slice(0, 8).map(({ name }) => name), "short"]);
    expect(warnings).toHaveLength(12);
    expect(warnings[0]).toMatch(/^method "method_8" is left out: all methods together are longer than \d+ characters$/);
  });

  it("a listing is judged by no more schemas than can be compiled beside everything else", () => {
    const properties = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, { type: "string" }]));
    const wide = (name: string) => methodWith({}, { name, inputSchema: { type: "object", properties } });
    const listed = Array.from({ length: 20 }, (_, i) => wide(`method_${i}`));
    const { methods, warnings } = cleanMethods([...listed, methodWith({}, { name: "short" })], NO_PRICES);
    expect(methods.map(({ name }) => name)).toEqual([...listed.slice(0, 9).map(({ name }) => name), "short"]);
    expect(warnings[0]).toBe(
      'method "method_9" is left out: the schemas of all methods together have more than 4000 parts',
    );
    const tooWide = { type: "object", properties: { a: { properties }, b: { properties } } };
    expect(cleanMethods([methodWith({}, { outputSchema: tooWide })], NO_PRICES)).toMatchObject({
      methods: [{ outputSchema: tooWide }],
      warnings: [expect.stringMatching(/more than 500 parts; answers are judged by those that come first$/)],
    });
  });

  it.each([
    ["type", { type: { toString: 1 } }],
    ["type", { properties: { a: { type: [{ toString: 1 }] } } }],
    ["type", { $defs: { a: { items: { type: 5 } } } }],
    ["pattern", { properties: { a: { type: "string", pattern: { toString: 1 } } } }],
    ["pattern", { anyOf: [true, { not: { pattern: ["a"] } }] }],
  ])("a %s that is no text, as in %j, leaves the method out", (keyword, schema) => {
    for (const [where, more] of [
      ["inputSchema", { inputSchema: schema }],
      ["outputSchema", { outputSchema: schema }],
    ] as const) {
      const { methods, warnings } = cleanMethods([methodWith({}, more)], NO_PRICES);
      expect(methods).toEqual([]);
      expect(warnings).toEqual([`method "method": it is left out: its ${where} has a ${keyword} that is not a text`]);
    }
  });

  it("a property that is called type or pattern is a property like others", () => {
    const schema = {
      type: ["object", "null"],
      properties: { type: { type: "string" }, pattern: { pattern: "^a" } },
      default: { type: 1, pattern: 2 },
      enum: [{ type: {} }],
    };
    expect(cleanMethods([methodWith({}, { inputSchema: schema, outputSchema: schema })], NO_PRICES)).toMatchObject({
      methods: [{ name: "method" }],
      warnings: [],
    });
  });

  it("prices: the owner's for the method, then the server's, then the default, from which {} opts out", () => {
    const defaults = { defaultExecutePriceUsd: "0.01" };
    expect(clean({}, defaults).method.executePriceUsd).toBe("0.01");
    expect(clean({ pricing: {} }, defaults).method.executeEligible).toBe(false);
    expect(clean({ pricing: { executeUsd: "cheap" } }, defaults).method.executeEligible).toBe(false);
    expect(clean({ pricing: { queryUsd: "0.05" } }, defaults).method).toMatchObject({
      executePriceUsd: "0.01",
      _meta: { pricing: { executeUsd: "0.01", queryUsd: "0.05" } },
    });
    expect(clean({ pricing: { executeUsd: "0.02" } }, defaults).method.executePriceUsd).toBe("0.02");
    const own = { ...defaults, executePrices: { method: "0.03" } };
    expect(clean({ pricing: { executeUsd: "0.02" } }, own).method.executePriceUsd).toBe("0.03");
    expect(clean({ surface: "answer" }, defaults).method).toMatchObject({
      executeEligible: false,
      executePriceUsd: "0.01",
    });
  });

  it("a name that cannot be used, or comes twice, leaves the method out", () => {
    const named = (name: string) => methodWith({}, { name });
    const { methods, warnings } = cleanMethods(
      [named("a"), named("a"), named("b\0"), named("c".repeat(201))],
      NO_PRICES,
    );
    expect(methods.map(({ name }) => name)).toEqual(["a"]);
    expect(warnings).toHaveLength(3);
  });

  it("a surface that contradicts queryEligible wins", () => {
    expect(isQueryEligible(clean({ surface: "execute", queryEligible: true }).method)).toBe(false);
    expect(isQueryEligible(clean({ latencyClass: "streaming" }).method)).toBe(false);
    expect(isQueryEligible(clean({}).method)).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import { createJudge } from "./createJudge.ts";
import { hashJson } from "./hashJson.ts";
import { MAX_PARTS, relax } from "./relax.ts";

const judge = createJudge();
const verdict = (schema: JsonSchema, value: unknown) => judge(schema, hashJson(schema), value).kind;

describe("an answer against its schema", () => {
  const schema = {
    type: "object",
    properties: {
      price: { type: "number", minimum: 0 },
      unit: { enum: ["gwei", "wei"] },
      levels: { type: "array", items: { $ref: "#/$defs/level" }, maxItems: 3 },
      note: { type: "string", nullable: true },
    },
    required: ["price"],
    additionalProperties: false,
    $defs: { level: { type: "integer" } },
  };
  it.each([
    [{ price: 1 }, "valid"],
    [{ price: 1, unit: "gwei", levels: [1, 2], note: null }, "valid"],
    [{}, "invalid"],
    [{ price: -1 }, "invalid"],
    [{ price: "1" }, "invalid"],
    [{ price: 1, unit: "ether" }, "invalid"],
    [{ price: 1, levels: [1.5] }, "invalid"],
    [{ price: 1, extra: 1 }, "invalid"],
    [[], "invalid"],
    [null, "invalid"],
  ])("%j is %s", (value, expected) => {
    expect(verdict(schema, value)).toBe(expected);
  });

  it("what is wrong is said where it is", () => {
    const said = judge(schema, hashJson(schema), { price: "1" });
    expect(said).toEqual({ kind: "invalid", problem: "/price must be number" });
  });

  it("a keyword that is left out convicts nobody, wherever it stands", () => {
    const never = { type: "string", pattern: "^never$" };
    expect(verdict(never, "other")).toBe("valid");
    expect(verdict({ not: never }, "other")).toBe("valid");
    expect(verdict({ oneOf: [never, { type: "string" }] }, "other")).toBe("valid");
    expect(verdict({ oneOf: [never, { type: "string" }] }, 1)).toBe("invalid");
    const byPattern = { type: "object", patternProperties: { "^a": {} }, additionalProperties: false };
    expect(verdict(byPattern, { b: 1 })).toBe("valid");
    expect(verdict({ if: { type: "string" }, else: false }, 1)).toBe("valid");
    expect(verdict({ type: "array", uniqueItems: true }, [1, 1])).toBe("valid");
  });

  it("what is whole is judged as it is written", () => {
    expect(verdict({ oneOf: [{ type: "string" }, { maxLength: 2 }] }, "a")).toBe("invalid");
    expect(verdict({ not: { type: "string" } }, "a")).toBe("invalid");
    expect(relax({ type: "string", description: "a remark", format: "date", "x-own": 1 }).exact).toBe(true);
  });

  it("a schema that names itself, or something elsewhere, is judged as far as it goes", () => {
    const tree = { type: "object", properties: { child: { $ref: "#" } }, required: ["name"] };
    expect(verdict(tree, { name: 1, child: { name: 2 } })).toBe("valid");
    expect(verdict(tree, { child: {} })).toBe("invalid");
    expect(verdict({ $ref: "https://evil.example/schema.json" }, 1)).toBe("valid");
  });

  it("neither a schema nor an answer can take more time than they are long", () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    );
    expect(verdict({ $ref: "#/$defs/d0", $defs: { ...doubling, d40: false } }, 1)).toBe("valid");
    let deep: unknown = {};
    for (let i = 0; i < 60; i += 1) deep = { a: deep };
    const branching = { properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } };
    expect(verdict(branching, deep)).toBe("valid");
    expect(verdict({ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`)).toBe("valid");
    let schema: JsonSchema = { type: "string" };
    for (let i = 0; i < 100; i += 1) schema = { properties: { a: schema } };
    expect(verdict(schema, {})).toBe("valid");
  });

  const properties = (count: number, inner: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, inner]));
  it.each([
    ["properties", { type: "object", properties: properties(2_000, { type: "string" }) }],
    [
      "assertions",
      { type: "object", properties: properties(300, { minLength: 1, maxLength: 2, minimum: 3, const: 4 }) },
    ],
    ["alternatives", { properties: properties(90, { oneOf: Array(7).fill({ enum: [1, 2] }) }) }],
    [
      "references",
      { properties: properties(90, { $ref: "#/$defs/a" }), $defs: { a: { properties: properties(90, {}) } } },
    ],
  ])(
    "a schema of too many %s is compiled and judged by as far as it goes, and the rest convicts nobody",
    (_, schema) => {
      const relaxed = relax(schema);
      expect(relaxed).toMatchObject({ isCut: true, exact: false });
      expect(relaxed.parts).toBeLessThanOrEqual(MAX_PARTS);
      expect(verdict({ ...schema, required: ["p0"] }, {})).toBe("invalid");
      expect(verdict({ ...schema, type: "object", not: { properties: schema.properties } }, {})).toBe("valid");
    },
  );

  it("of many alternatives it is asked whether any fits, because to ask for exactly one takes their square", () => {
    const alternatives = (count: number) => ({ oneOf: Array.from({ length: count }, (_, i) => ({ minimum: i })) });
    expect(verdict(alternatives(8), 7)).toBe("invalid");
    expect(verdict(alternatives(9), 7)).toBe("valid");
    expect(verdict(alternatives(9), -1)).toBe("invalid");
    expect(JSON.stringify(relax({ anyOf: Array(9).fill(alternatives(9)) }).schema)).not.toContain("oneOf");
  });

  it("schemas are compiled beforehand, one at a time, and others are served in between", async () => {
    const prepared = createJudge();
    const schemas = Array.from({ length: 5 }, (_, i) => ({ type: "object", required: [`p${i}`] }));
    let isDone = false;
    const preparing = prepared.prepare(schemas.map((schema) => [schema, hashJson(schema)])).then(() => (isDone = true));
    let served = 0;
    while (!isDone) {
      served += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await preparing;
    expect(served).toBeGreaterThanOrEqual(schemas.length);
  });

  const list = (items: unknown) => ({ type: "object", properties: { a: { type: "array", items } } });
  const many = (part: (i: number) => unknown, count = 300) => Array.from({ length: count }, (_, i) => part(i));
  const numbers = { a: many((i) => i % 2, 20_000) };
  const text = { a: "x".repeat(2_000_000) };
  it.each([
    ["a long list of values", list({ enum: many((i) => i + 2, 10_000).concat(0, 1) }), numbers],
    ["alternatives that differ", list({ anyOf: [...many((i) => ({ const: i + 2 })), {}] }), numbers],
    [
      "alternatives of which one may fit",
      list({ oneOf: [...many((i) => ({ const: i + 2 })), { maximum: 1 }] }),
      numbers,
    ],
    ["alternatives of another type", list({ anyOf: [...many(() => ({ type: "string" })), {}] }), numbers],
    ["lengths", { properties: { a: { allOf: many(() => ({ minLength: 1_500_000 }), 300) } } }, text],
    [
      "lengths below alternatives",
      { anyOf: [...many(() => ({ properties: { a: { maxLength: 1_500_000, type: "string" } } }), 300), {}] },
      text,
    ],
    [
      "names",
      { allOf: many(() => ({ additionalProperties: {} }), 300) },
      Object.fromEntries(many((i) => [`n${i}`, 1], 20_000) as [string, number][]),
    ],
  ])("%s, each looked at for each value of an answer, are given up and convict nobody", (_, schema, answer) => {
    expect(JSON.stringify(schema).length).toBeLessThan(64 * 1024);
    expect(verdict(schema, answer)).toBe("unknown");
  });

  it("an honest answer of megabytes is judged to its end, and lengths by characters", () => {
    const point = {
      type: "object",
      properties: { t: { type: "integer" }, v: { type: "number" } },
      required: ["t", "v"],
    };
    const points = many((t) => ({ t, v: 1.5 }), 100_000);
    expect(verdict(list(point), { a: points })).toBe("valid");
    expect(verdict(list(point), { a: [...points, { t: 1 }] })).toBe("invalid");
    expect(["😀", "😀😀", "abc", "ab"].map((value) => verdict({ maxLength: 2, minLength: 2 }, value))).toEqual([
      ...["invalid", "valid", "invalid", "valid"],
    ]);
  });

  it("a schema that is none convicts nobody", () => {
    expect(verdict({ type: "strng" }, 1)).toBe("unknown");
    expect(verdict({ minimum: "5" }, 1)).toBe("unknown");
  });
});

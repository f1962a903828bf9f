import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../mcp/createMcpClient.ts";
import { sampleArguments } from "./sampleArguments.ts";

const needing = (properties: Record<string, unknown>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});

const nested = (levels: number, inner: (schema: JsonSchema) => JsonSchema, innermost: JsonSchema) => {
  let schema = innermost;
  for (let level = 0; level < levels; level += 1) schema = inner(schema);
  return schema;
};

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}

describe("arguments with which a method is tried", () => {
  it("are the default, else the first example, else the first of an enumeration, else something of the type", () => {
    const schema = needing({
      given: { type: "string", default: "a", examples: ["b"] },
      shown: { type: "string", examples: ["b"], enum: ["c"] },
      named: { enum: ["c", "d"] },
      fixed: { const: 7 },
      either: { anyOf: [{ type: "boolean" }, { type: "null" }] },
      text: { type: "string", minLength: 6 },
      least: { type: "integer", minimum: 3 },
      list: { type: "array", minItems: 2, items: { type: "number" } },
      inner: needing({ a: { type: "string" } }),
    });
    expect(sampleArguments(schema)).toEqual({
      given: "a",
      shown: "b",
      named: "c",
      fixed: 7,
      either: true,
      text: "testxx",
      least: 3,
      list: [1, 1],
      inner: { a: "test" },
    });
  });

  const list = (items: JsonSchema) => ({ type: "array", minItems: 10, items });
  const object = (inner: JsonSchema) => ({
    type: "object",
    required: Array(10).fill("a"),
    properties: { a: inner },
  });
  const wide = (inner: JsonSchema) =>
    needing(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${i}${"k".repeat(50)}`, inner])));
  it.each([
    ["lists in lists", needing({ a: nested(8, list, { type: "string", minLength: 100 }) })],
    ["objects in objects", nested(7, wide, { type: "integer" })],
    ["a name that is required ten times", nested(7, object, { type: "integer" })],
    ["a long example in every place of a list", needing({ a: nested(4, list, { default: "x".repeat(5_000) }) })],
    ["a large example in every place of a list", needing({ a: nested(4, list, { default: Array(600).fill(0) }) })],
  ])("are never more than a thousand values and ten thousand characters: %s", (_, schema) => {
    const args = sampleArguments(schema);
    expect(valuesIn(args)).toBeLessThanOrEqual(1_000);
    expect(JSON.stringify(args).length).toBeLessThanOrEqual(10_000);
  });
});

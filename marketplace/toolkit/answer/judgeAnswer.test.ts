import { expect, it } from "vitest";
import { judgeAnswer } from "./judgeAnswer.ts";

const parse = (text: string): unknown => JSON.parse(text);

// What each level applies to the same value, so that all of them together apply it more often than anybody can wait for.
const doubling = (levels: number, branches: number) => ({
  $ref: "#/$defs/0",
  $defs: Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, level) => [
      level,
      level === levels
        ? { type: "integer" }
        : { anyOf: Array.from({ length: branches }, () => ({ $ref: `#/$defs/${level + 1}` })) },
    ]),
  ),
});

it("an answer is judged by what it is", () => {
  const schema = { type: "object", properties: { price: { $ref: "#/$defs/a~1b" } }, $defs: { "a/b": { minimum: 0 } } };
  expect(judgeAnswer(schema, { price: 1 })).toBe("valid");
  expect(judgeAnswer(schema, { price: -1 })).toBe("invalid");
  expect(judgeAnswer({ items: { type: "integer" } }, Array(20_000).fill(1))).toBe("valid");
});

it.each([
  ["a schema that is to be waited for", { $async: true, type: "integer" }, "x"],
  ["such a schema within another one", { properties: { a: { $async: true } } }, { a: 1 }],
  ["an identifier that is no text", { $id: 5 }, "x"],
  ["references without number", doubling(16, 8), "x"],
  ["a reference to itself", { $ref: "#" }, "x"],
  ["many schemas for many properties", parse(`{"patternProperties":{${manyOf("{}")}}}`), parse(`{${manyOf("{}")}}`)],
  ["very many things that must not be equal", { uniqueItems: true }, Array.from({ length: 20_000 }, () => [])],
])("%s stops nobody who judges by it, and is unknown", (_, schema, content) => {
  expect(judgeAnswer(schema, content)).toBe("unknown");
});

// What the court takes at its word, and Ajv in another way.
it.each([
  ["null beside nullable", { type: "string", nullable: true }, null],
  [
    "a property that ECMAScript treats otherwise",
    parse('{"properties":{"__proto__":false}}'),
    parse('{"__proto__":1}'),
  ],
  ["such a property in the answer alone", { additionalProperties: false }, parse('{"a":{"__proto__":1}}')],
  ["an escaped slash", { $ref: "#/$defs/a%2Fb", $defs: { "a/b": false } }, 1],
  ["a tilde that escapes nothing", { $ref: "#/$defs/a~2", $defs: { "a~2": false } }, 1],
  ["a tilde at the end", { $ref: "#/$defs/a~", $defs: { "a~": false } }, 1],
])("%s is unknown, because the court may see it otherwise", (_, schema, content) => {
  expect(judgeAnswer(schema, content)).toBe("unknown");
});

function manyOf(value: string): string {
  return Array.from({ length: 5_000 }, (_, i) => `"${i}":${value}`).join();
}

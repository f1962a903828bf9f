import fc from "fast-check";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Schema = boolean | { [keyword: string]: Json };

// Few names and few values, so that schemas and values meet. Numbers are multiples of 1/8, in which the doubles that Ajv
// computes with are as exact as the court's decimals.
export const NAMES = ["a", "b", "c", "x-1", "x-long", "Ä", "😀", "a/b", "m~n", "50%"] as const;
const STRINGS = ["", "a", "ab", "abc", "x-1", "Ä", "😀😀", "e\u0301", "\ud83d", 'q"\\\n', "http://a.b/c", "1"] as const;
const NUMBERS = [0, 1, 2, 3, 7, 12, 100, -1, -3, 0.5, 1.25, -0.125, 2.5, 123456789012345] as const;

const name = fc.constantFrom(...NAMES);
const string = fc.constantFrom(...STRINGS);
const number = fc.constantFrom(...NUMBERS);
const count = fc.constantFrom(0, 1, 2, 3, 4);
const type = fc.constantFrom("null", "boolean", "number", "integer", "string", "array", "object");
const scalar: fc.Arbitrary<Json> = fc.oneof(fc.constant(null), fc.boolean(), number, string);

// Any value, a few levels deep.
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
})).value;

const PLAIN_PATTERNS = ["^x-", "a", "^a$", "b$", "", "^", "Ä", "^a/b", "\\$", "^50%"];
const OTHER_PATTERNS = ["^[a-c]$", ".", "^x-.*$", "a|b", "\\d"];
// To definitions without references of their own, which would never end.
const REFERENCES = [
  "#/$defs/first",
  "#/$defs/second",
  "#/%24defs/a~1b",
  "#/$defs/m~0n",
  "#/$defs/50%25",
  "#/$defs/list/prefixItems/0",
];

// One keyword with a value that the draft allows, by what is asked of the keyword's subschemas.
function keywordsOver(schema: fc.Arbitrary<Schema>): Record<string, fc.Arbitrary<{ [keyword: string]: Json }>> {
  const one = <T extends Json>(keyword: string, value: fc.Arbitrary<T>) => value.map((it) => ({ [keyword]: it }));
  const schemas = fc.array(schema as fc.Arbitrary<Json>, { minLength: 1, maxLength: 3 });
  const sub = schema as fc.Arbitrary<Json>;
  const pattern = fc.oneof(
    { arbitrary: fc.constantFrom(...PLAIN_PATTERNS), weight: 20 },
    fc.constantFrom(...OTHER_PATTERNS),
  );
  return {
    type: one("type", fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
    enum: one("enum", fc.uniqueArray(json, { minLength: 1, maxLength: 4, comparator: "SameValue" })),
    const: one("const", json),
    multipleOf: one("multipleOf", fc.constantFrom(1, 2, 3, 0.5, 0.125, 7)),
    minimum: one("minimum", number),
    maximum: one("maximum", number),
    exclusiveMinimum: one("exclusiveMinimum", number),
    exclusiveMaximum: one("exclusiveMaximum", number),
    minLength: one("minLength", count),
    maxLength: one("maxLength", count),
    pattern: one("pattern", pattern),
    items: one("items", sub),
    prefixItems: one("prefixItems", schemas),
    prefixThenItems: fc.record({ prefixItems: schemas, items: sub }),
    contains: fc.record({ contains: sub, minContains: count, maxContains: count }, { requiredKeys: ["contains"] }),
    minItems: one("minItems", count),
    maxItems: one("maxItems", count),
    uniqueItems: one("uniqueItems", fc.boolean()),
    properties: one("properties", fc.dictionary(name, sub, { maxKeys: 4 })),
    patternProperties: one("patternProperties", fc.dictionary(pattern, sub, { maxKeys: 2 })),
    additionalProperties: fc.record(
      {
        properties: fc.dictionary(name, sub, { maxKeys: 3 }),
        patternProperties: fc.dictionary(pattern, sub, { maxKeys: 2 }),
        additionalProperties: sub,
      },
      { requiredKeys: ["additionalProperties"] },
    ),
    propertyNames: one("propertyNames", sub),
    required: one("required", fc.uniqueArray(name, { maxLength: 3 })),
    minProperties: one("minProperties", count),
    maxProperties: one("maxProperties", count),
    dependentRequired: one(
      "dependentRequired",
      fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }) as fc.Arbitrary<Json>, { maxKeys: 2 }),
    ),
    dependentSchemas: one("dependentSchemas", fc.dictionary(name, sub, { maxKeys: 2 })),
    allOf: one("allOf", schemas),
    anyOf: one("anyOf", schemas),
    oneOf: one("oneOf", schemas),
    not: one("not", sub),
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nobody awaits it.
    if: fc.record({ if: sub, then: sub, else: sub }, { requiredKeys: ["if"] }),
    // What asserts nothing.
    annotation: fc.record(
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nobody awaits it.
      { title: string, format: fc.constantFrom("email", "date-time"), then: sub, minContains: count, "x-own": json },
      { requiredKeys: [] },
    ) as fc.Arbitrary<{ [keyword: string]: Json }>,
  };
}

// A reference, and a schema that goes on with itself further down.
const references: fc.Arbitrary<{ [keyword: string]: Json }>[] = [
  fc.constantFrom(...REFERENCES).map(($ref) => ({ $ref })),
  name.map((it) => ({ properties: { [it]: { $ref: "#" } } })),
  fc.constant({ items: { $ref: "#" } }),
];

// What the court leaves undecided, now and then.
const undecided = fc.constantFrom<{ [keyword: string]: Json }>(
  { unevaluatedProperties: false },
  { unevaluatedItems: false },
  { pattern: "^[a-z]+$" },
);

const leafSchema: fc.Arbitrary<Schema> = fc.oneof(
  { arbitrary: fc.boolean() as fc.Arbitrary<Schema>, weight: 1 },
  { arbitrary: type.map((it): Schema => ({ type: it })), weight: 4 },
  { arbitrary: json.map((it): Schema => ({ const: it })), weight: 1 },
  { arbitrary: number.map((it): Schema => ({ minimum: it })), weight: 1 },
  { arbitrary: count.map((it): Schema => ({ maxLength: it })), weight: 1 },
);

// Ajv accepts an empty array for `contains` beside `prefixItems`, which the draft does not; apart from each other they are
// told the same.
function merged(parts: { [keyword: string]: Json }[]): Schema {
  const { contains, ...others } = Object.assign({}, ...parts) as { [keyword: string]: Json };
  if (contains === undefined) return others;
  return others.prefixItems === undefined ? { contains, ...others } : { ...others, allOf: [{ contains }] };
}

function schemasOf(depth: number, others: typeof references): fc.Arbitrary<Schema> {
  if (depth === 0) return leafSchema;
  const keywords = fc.oneof(...Object.values(keywordsOver(schemasOf(depth - 1, others))), ...others);
  return fc.oneof(
    { arbitrary: leafSchema, weight: 10 },
    { arbitrary: keywords as fc.Arbitrary<Schema>, weight: 30 },
    { arbitrary: fc.array(keywords, { minLength: 2, maxLength: 4 }).map(merged), weight: 30 },
    { arbitrary: fc.tuple(keywords, undecided).map(merged), weight: 1 },
  );
}

const definitions = fc.record({
  first: leafSchema,
  second: schemasOf(1, []),
  "a/b": leafSchema,
  "m~n": leafSchema,
  "50%": leafSchema,
  list: fc.record({ prefixItems: fc.array(leafSchema, { minLength: 1, maxLength: 2 }) }),
}) as fc.Arbitrary<{ [name: string]: Json }>;

// A whole schema: every keyword alone at first, then in any company and nested.
export const schemas: fc.Arbitrary<Schema> = fc
  .oneof(
    { arbitrary: fc.oneof(...Object.values(keywordsOver(leafSchema))) as fc.Arbitrary<Schema>, weight: 2 },
    { arbitrary: schemasOf(1, references), weight: 2 },
    { arbitrary: schemasOf(2, references), weight: 3 },
    { arbitrary: schemasOf(3, references), weight: 1 },
  )
  .chain((schema) =>
    typeof schema === "boolean" || !JSON.stringify(schema).includes('"$ref"')
      ? fc.constant(schema)
      : definitions.map((defs): Schema => ({ ...schema, $defs: defs })),
  );

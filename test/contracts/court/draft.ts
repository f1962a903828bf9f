// Draft 2020-12, keyword by keyword, as its two documents (Core, Validation) say it and not as an implementation does. Section
// numbers are those of the documents. JsonSchema.ts has what is ours: the text, the bounds, and what is unknown.
import { expect } from "chai";
import { openJudge } from "./judge.ts";

let judge: Awaited<ReturnType<typeof openJudge>>;
before(async () => {
  judge = await openJudge();
});

type Row = readonly [
  schema: unknown,
  valid: readonly unknown[],
  invalid: readonly unknown[],
  unknown?: readonly unknown[],
];

// A number that a double cannot hold, or another text that JSON.stringify would not write.
const text = (json: string) => ({ json });
const textOf = (value: unknown) =>
  typeof value === "object" && value !== null && "json" in value ? String(value.json) : JSON.stringify(value);

async function expectVerdicts(rows: readonly Row[]): Promise<void> {
  const expected = rows.flatMap(([schema, valid, invalid, unknown = []]) => {
    const cases = (values: readonly unknown[], verdict: string) =>
      values.map((value) => ({ schema: textOf(schema), json: textOf(value), verdict }));
    return [...cases(valid, "valid"), ...cases(invalid, "invalid"), ...cases(unknown, "unknown")];
  });
  const verdicts = await judge.judgeMany(expected);
  expect(expected.map((it, i) => ({ ...it, verdict: verdicts[i] }))).to.deep.equal(expected);
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

describe("draft 2020-12, Core", () => {
  it("4.2.2: values are equal by what they are, not by how they are written", () =>
    expectVerdicts([
      [text('{"const":-2.0}'), [-2, text("-2.0"), text("-20e-1")], [2, text("-2.00001")]],
      [text('{"const":1e400}'), [text("10e399"), text("0.1e401")], [text("1e401"), text("9e399")]],
      [{ const: null }, [null], [0, false, "", [], {}, "null"]],
      [{ const: { a: false } }, [{ a: false }], [{ a: 0 }, { a: [false] }, { a: null }, {}]],
      [{ const: [{ a: 1, b: [2, {}] }] }, [text('[{"b":[2.0,{}],"a":1e0}]')], [[{ a: 1, b: [{}, 2] }]]],
      [{ const: "hello\u0000there" }, ["hello\u0000there"], ["hellothere", "hello", "hello\u0000"]],
      [{ const: "café" }, [text('"caf\\u00e9"')], ["cafe\u0301", "cafe"]],
      [{ const: "a/b" }, [text('"a\\/b"')], ["a\\/b"]],
      [{ enum: [[false]] }, [[false]], [[0], [null], false]],
      [text('{"enum":[[0]]}'), [[0], text("[-0.0]")], [[false], [], 0]],
      [{ enum: ["foo\nbar", "foo\rbar"] }, ["foo\nbar", "foo\rbar"], ["foo bar", "foobar", "foo\\nbar"]],
      [{ enum: [null, {}] }, [null, {}], [[], { a: null }, "null"]],
    ]));

  it("4.3.2: true and false are schemas wherever a schema may stand", () =>
    expectVerdicts([
      [{ allOf: [true, false] }, [], [1]],
      [{ anyOf: [false, true] }, [1], []],
      [{ oneOf: [false, false] }, [], [1]],
      [{ not: false }, [1, null], []],
      [{ not: true }, [], [1, null]],
      [{ not: {} }, [], [1]],
      [text('{"if":false,"then":false,"else":true}'), [1], []],
      [text('{"if":true,"then":false}'), [], [1]],
      [{ items: true }, [[1, "a"], []], []],
      [{ prefixItems: [true, false] }, [[1], []], [[1, 2]]],
      [{ contains: false }, ["x"], [[], [1]]],
      [{ contains: true }, [[1]], [[]]],
      [{ properties: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }, { a: 1, b: null }]],
      [{ patternProperties: { "^a": true, "^b": false } }, [{ a: 1 }], [{ b: 1 }, { ab: 1, ba: 1 }]],
      [{ additionalProperties: false }, [{}, [], 1], [{ a: null }]],
      [{ propertyNames: true }, [{ a: 1 }], []],
      [{ dependentSchemas: { a: true, b: false } }, [{ a: 1 }, {}], [{ b: 1 }, { a: 1, b: 1 }]],
      [{ $ref: "#/$defs/no", $defs: { no: false } }, [], [1]],
    ]));

  it("8.2.3.1: a reference stands beside other keywords, and points by JSON Pointer (RFC 6901)", () => {
    const names = { "~": 1, "/": 2, "%": 3, "~1": 4, "a b": 5, ü: 6, "": 7, "~01": 8 };
    const $defs = Object.fromEntries(Object.entries(names).map(([name, value]) => [name, { const: value }]));
    const pointers: readonly (readonly [string, number])[] = [
      ["#/$defs/~0", 1],
      ["#/$defs/%7E0", 1],
      ["#/$defs/~1", 2],
      ["#/$defs/%25", 3],
      ["#/$defs/~01", 4],
      ["#/$defs/a%20b", 5],
      ["#/$defs/a b", 5],
      ["#/$defs/%C3%BC", 6],
      ["#/$defs/ü", 6],
      ["#/$defs/", 7],
      ["#/$defs/~001", 8],
      ["#/%24defs/~001", 8],
    ];
    return expectVerdicts([
      ...pointers.map(([$ref, value]): Row => [{ $defs, $ref }, [value], [value + 1, "x"]]),
      [
        { $defs: { r: { type: "array" } }, properties: { foo: { $ref: "#/$defs/r", maxItems: 2 } } },
        [{ foo: [1, 2] }],
        [{ foo: [1, 2, 3] }, { foo: "x" }],
      ],
      [
        { $defs: { a: { type: "integer" }, b: { $ref: "#/$defs/a" }, c: { $ref: "#/$defs/b" } }, $ref: "#/$defs/c" },
        [5],
        ["a"],
      ],
      [{ properties: { list: { items: { $ref: "#/properties/list" } } } }, [{ list: [[], [[]]] }, { list: "x" }], []],
      [
        { type: "object", properties: { child: { $ref: "#" } }, required: ["id"] },
        [{ id: 1 }, { id: 1, child: { id: 2 } }],
        [
          { id: 1, child: {} },
          { id: 1, child: { id: 2, child: 3 } },
        ],
      ],
      [{ unheard: { type: "integer" }, properties: { a: { $ref: "#/unheard" } } }, [{ a: 1 }], [{ a: "x" }]],
      [{ allOf: [{ type: "string" }, { $ref: "#/allOf/0" }] }, ["x"], [1]],
      [{ $ref: "#/$defs/00", $defs: [true] }, [], [], [1]],
      [{ $ref: "#/allOf/01", allOf: [true, true] }, [], [], [1]],
      [{ $ref: "#/allOf/-", allOf: [true] }, [], [], [1]],
      [{ $ref: "#/allOf/2", allOf: [true, true] }, [], [], [1]],
    ]);
  });

  it("8.2.3.1: a reference into what has no parts leads nowhere", () =>
    expectVerdicts([
      [{ title: "t", $ref: "#/title/x" }, [], [], [1]],
      [{ $ref: "#/$defs/a/b", $defs: { a: true } }, [], [], [1]],
    ]));

  it("4.3.3: names that are no keywords, of no length or of any, assert nothing", () =>
    expectVerdicts([[{ "": false, ["x".repeat(33)]: false, "type\u0000": "string", type: "integer" }, [1], ["x"]]]));

  it("8.2: other identifiers are not followed, and what they could change is unknown", () =>
    expectVerdicts([
      [{ $schema: DRAFT, type: "integer" }, [1], ["x"]],
      [{ $schema: "https://json-schema.org/draft/2019-09/schema", type: "integer" }, [], [], [1, "x"]],
      [{ $dynamicRef: "#a", $defs: { x: { $dynamicAnchor: "a", type: "integer" } } }, [], [], [1, "x"]],
      [{ $defs: { x: { $id: "inner", $anchor: "a" } }, type: "integer" }, [1], ["x"]],
      [{ $ref: DRAFT }, [], [], [{}, 1]],
      [
        { properties: { $id: { type: "string" }, $schema: { type: "string" }, $ref: { type: "string" } } },
        [{ $id: "x" }],
        [{ $id: 1 }, { $schema: 1 }, { $ref: {} }],
      ],
    ]));

  it("8.2.1: a reference to the root's own absolute identifier is one to the root", () => {
    const to = (id: string, ref: string) => ({ $id: id, $ref: ref, $defs: { a: { type: "integer" } } });
    return expectVerdicts([
      [to("https://a.example/s", "https://a.example/s#/$defs/a"), [1], ["x"]],
      [to("https://a.example/s#", "https://a.example/s#/$defs/a"), [1], ["x"]],
      [to("urn:example:s", "urn:example:s#/$defs/a"), [1], ["x"]],
      [
        { $id: "https://a.example/s", type: ["object"], properties: { a: { $ref: "https://a.example/s" } } },
        [{ a: {} }],
        [{ a: 1 }, { a: { a: 1 } }],
      ],
      [to("https://a.example/s", "https://a.example/other#/$defs/a"), [], [], [1, "x"]],
      [to("https://a.example/s", "https://a.example/s2#/$defs/a"), [], [], [1, "x"]],
      [to("https://a.example/s", "https://a.example/s2/$defs/a"), [], [], [1, "x"]],
      [to("https://a.example/s", "https://a.example/#/$defs/a"), [], [], [1, "x"]],
      // Relative to itself it is another one.
      [to("a/s", "a/s#/$defs/a"), [], [], [1, "x"]],
      [to("s", "s#/$defs/a"), [], [], [1, "x"]],
      [to("/s:x", "/s:x#/$defs/a"), [], [], [1, "x"]],
      // An identifier has no fragment but an empty one.
      [to("https://a.example/s#b", "https://a.example/s#b"), [], [], [1, "x"]],
      [to("https://a.example/s#b", "https://a.example/s#b#/$defs/a"), [], [], [1, "x"]],
      [to("", "x#/$defs/a"), [], [], [1, "x"]],
      [{ $ref: "https://a.example/s#/$defs/a", $defs: { a: true } }, [], [], [1]],
      [{ $id: 1, $ref: "https://a.example/s#/$defs/a", $defs: { a: true } }, [], [], [1]],
    ]);
  });

  it("8.2.2: an anchor is found at the root and in its definitions", () =>
    expectVerdicts([
      [{ $ref: "#a", $defs: { x: { $anchor: "a", type: "integer" }, y: true, z: { $anchor: "_b-1" } } }, [1], ["x"]],
      [{ $ref: "#_b-1", $defs: { x: { $anchor: "a" }, z: { $anchor: "_b-1", type: "integer" } } }, [1], ["x"]],
      [
        { $id: "https://a.example/s", $ref: "https://a.example/s#a", $defs: { x: { $anchor: "a", type: "integer" } } },
        [1],
        ["x"],
      ],
      [
        { $anchor: "a", type: ["object", "null"], additionalProperties: { $ref: "#a" } },
        [{ b: null }, { b: { c: {} } }],
        [{ b: { c: 1 } }],
      ],
      [{ $ref: "#b", $defs: { x: { $anchor: "a" } } }, [], [], [1]],
      [{ $ref: "#a", $defs: 1 }, [], [], [1]],
      [{ $ref: "#a", $defs: { x: { $anchor: 1 } } }, [], [], [1]],
      [{ $ref: "#1", $defs: { x: { $anchor: "1" } } }, [], [], [1]],
      // Two of one name, and what only looks like an anchor.
      [{ $ref: "#a", $defs: { x: { $anchor: "a" }, y: { $anchor: "a" } } }, [], [], [1]],
      [{ $ref: "#a", $anchor: "a", $defs: { x: { $anchor: "a" } } }, [], [], [1]],
      [{ $ref: "#a", $defs: { x: { $anchor: "a" }, y: { enum: [{ $anchor: "b" }] } } }, [], [], [1]],
      [{ $ref: "#a", enum: [{ $anchor: "a" }] }, [], [1], [{ $anchor: "a" }]],
      // One that stands in a definition which another of its name has taken the place of, or that is found in other ways as well.
      [text(`{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"integer"},"x":{"$anchor":"b"}}}`), [], [], [1, "x"]],
      [text(`{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"integer"},"x":true}}`), [], [], [1, "x"]],
      [{ $ref: "#a", $defs: { x: { $anchor: "a", type: "integer" }, y: { $dynamicAnchor: "a" } } }, [], [], [1, "x"]],
      // Below another identifier it belongs to that.
      [{ $ref: "#a", $defs: { x: { $id: "https://a.example/x", $anchor: "a" } } }, [], [], [1]],
      // A property of that name is a schema.
      [{ $ref: "#a", $defs: { x: { $anchor: "a" } }, properties: { $anchor: true } }, [1], []],
    ]));

  it("10.2: logic, conditions and what depends on a name", () =>
    expectVerdicts([
      [
        { allOf: [{ properties: { a: { type: "integer" } }, required: ["a"] }, { required: ["b"] }] },
        [{ a: 1, b: 2 }],
        [{ a: 1 }, { b: 2 }, { a: "x", b: 2 }],
      ],
      [
        { oneOf: [{ required: ["a", "b"] }, { required: ["a", "c"] }] },
        [
          { a: 1, b: 2 },
          { a: 1, c: 3 },
        ],
        [{ a: 1 }, { a: 1, b: 2, c: 3 }],
      ],
      [{ not: { type: ["integer", "boolean"] } }, ["x", 1.5], [1, true]],
      [{ not: { type: "object", properties: { a: { type: "string" } } } }, [1, { a: 1 }], [{ a: "x" }, {}]],
      [{ properties: { a: { not: {} } } }, [{ b: 1 }], [{ a: 1 }]],
      [
        text('{"then":{"const":"yes"},"else":{"const":"other"},"if":{"maxLength":4}}'),
        ["yes", "other"],
        ["no", "invalid"],
      ],
      [{ if: { const: 0 }, else: { multipleOf: 2 } }, [0, 4], [3]],
      [
        text('{"allOf":[{"if":{"exclusiveMaximum":0}},{"then":{"minimum":-10}},{"else":{"multipleOf":2}}]}'),
        [-100, 3],
        [],
      ],
      [
        { dependentSchemas: { "foo\tbar": { minProperties: 4 }, "foo'bar": { required: ['foo"bar'] } } },
        [
          { "foo\tbar": 1, a: 2, b: 3, c: 4 },
          { "foo'bar": 1, 'foo"bar': 2 },
        ],
        [{ "foo\tbar": 1, a: 2 }, { "foo'bar": 1 }],
      ],
      [
        {
          properties: { foo: {} },
          dependentSchemas: { foo: { properties: { bar: {} }, additionalProperties: false } },
        },
        [{ bar: 1 }],
        [{ foo: 1 }, { foo: 1, bar: 2 }],
      ],
    ]));

  it("10.3: what is inside of arrays and objects", () =>
    expectVerdicts([
      [{ items: { type: "integer" } }, [[], [1, 2], { 0: "x", length: 1 }, "abc"], [[1, "x"]]],
      [
        { allOf: [{ prefixItems: [{ minimum: 3 }] }], items: { minimum: 5 } },
        [[5, 5]],
        [
          [3, 5],
          [5, 4],
        ],
      ],
      [{ prefixItems: [{ type: "string" }], items: { type: "integer" } }, [["x", 2, 3], []], [["x", "y"], [1]]],
      [
        { prefixItems: [{}], items: false },
        [[], ["a"]],
        [
          ["a", "b"],
          ["a", null],
        ],
      ],
      [{ prefixItems: [{ type: "null" }], items: { type: "null" } }, [[null, null]], [[null, 0]]],
      [{ items: { items: { items: { type: "number" } } } }, [[[[1], []]], [[]]], [[[["x"]]]]],
      [
        { items: { multipleOf: 2 }, contains: { multipleOf: 3 } },
        [[6, 2]],
        [
          [2, 4],
          [3, 6],
          [1, 5],
        ],
      ],
      [{ contains: { if: false, else: true } }, [["x"]], [[]]],
      [{ contains: { const: 1 }, maxContains: 1 }, [[1], [1, 2]], [[], [1, 1], [2]]],
      [text('{"contains":{"const":1},"minContains":2.0,"maxContains":2.0}'), [[1, 2, 1]], [[1], [1, 1, 1]]],
      [{ contains: { const: 1 }, minContains: 3, maxContains: 1 }, [], [[], [1], [1, 1, 1]]],
      [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1], [2]], [[1, 1]]],
      [{ contains: false, minContains: 0 }, [[], [1]], []],
      [{ patternProperties: { "^á": {} }, additionalProperties: false }, [{ ármányos: 2 }], [{ élmény: 2 }]],
      [
        {
          properties: { a: { maxItems: 3 }, b: {} },
          patternProperties: { o$: { minItems: 2 } },
          additionalProperties: { type: "integer" },
        },
        [{ a: [1] }, { foo: [1, 2] }, { c: 3 }, { b: "x" }],
        [{ a: [1, 2, 3, 4] }, { foo: [] }, { c: "x" }],
      ],
      [
        {
          properties: { __proto__: { type: "number" }, constructor: { type: "number" }, hasOwnProperty: false },
          additionalProperties: { type: "string" },
        },
        [{ constructor: 1 }, { toString: "x" }, {}],
        [{ constructor: "x" }, { hasOwnProperty: 1 }, { valueOf: 1 }],
      ],
      [
        { properties: { 'foo\nbar"\\\t\f': { type: "number" } } },
        [{ 'foo\nbar"\\\t\f': 1 }],
        [{ 'foo\nbar"\\\t\f': "1" }],
      ],
      [{ propertyNames: { const: "foo" } }, [{ foo: 1 }, {}, 12, ["x"]], [{ bar: 1 }, { foo: 1, bar: 2 }]],
      [{ propertyNames: { pattern: "^a" } }, [{ a: 1, ab: 2 }], [{ b: 1 }, { a: 1, ba: 2 }]],
      [{ propertyNames: { type: "integer" } }, [{}], [{ 1: 1 }]],
      [{ additionalProperties: { type: "null" } }, [{ a: null }], [{ a: 0 }]],
      [{ additionalProperties: true, properties: { a: false } }, [{ b: 1 }], [{ a: 1 }]],
      [{ additionalProperties: false, patternProperties: [] }, [], [], [{ a: 1 }, {}]],
    ]));

  it("10.3: what has many items and members is compared as what has few", () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => (i * 7) % count);
    const members = (count: number, order = 1) =>
      Object.fromEntries(numbers(count).map((n) => [`a${(order * n + count) % count}`, (order * n + count) % count]));
    return expectVerdicts(
      [5, 9, 12, 16, 17, 31, 40, 65].flatMap((count): Row[] => [
        [
          { uniqueItems: true },
          [numbers(count)],
          [
            [...numbers(count), count - 1],
            [3, ...numbers(count)],
          ],
        ],
        [
          { const: members(count) },
          [members(count, -1)],
          [
            { ...members(count), a1: 2 },
            { ...members(count), b: 1 },
          ],
        ],
        [{ required: [`a${count - 1}`, "a0"], maxProperties: count }, [members(count)], [members(count - 1)]],
      ]),
    );
  });

  it("11: what was evaluated elsewhere is unknown, unless nothing is left to ask", () =>
    expectVerdicts([
      [{ unevaluatedItems: false }, [[], {}, 1], [], [[1]]],
      [{ unevaluatedItems: true }, [[1]], []],
      [{ prefixItems: [{ type: "string" }], unevaluatedItems: false }, [], [[1], [1, 2]], [["x"], ["x", 2]]],
      [
        { properties: { a: { type: "string" } }, unevaluatedProperties: false },
        [{}],
        [{ a: 1 }],
        [{ a: "x" }, { b: 1 }],
      ],
      [{ not: { unevaluatedProperties: false } }, [], [{}], [{ a: 1 }]],
      [{ unevaluatedProperties: { type: "string" } }, [{}], [], [{ a: "x" }, { a: 1 }]],
    ]));
});

describe("draft 2020-12, Validation", () => {
  it("6.1.1: types", () =>
    expectVerdicts([
      [
        { type: "integer" },
        [1, text("1.0"), text("1E2"), text("-0.0"), text("123456789012345678901234567890")],
        [1.1, "1", true, [], null],
      ],
      [{ type: "integer" }, [text("1e400"), text("12.50e1"), text("0e-7")], [text("1e-400"), text("12.55e1")]],
      [{ type: "number" }, [1, 1.5, text("1e400")], ["1", null, true]],
      [{ type: ["number", "integer"] }, [1, 1.5], ["x"]],
      [{ type: ["array", "object", "null"] }, [[], {}, null], [0, false, ""]],
      [{ type: ["string"] }, ["x"], [1]],
      [{ type: "boolean" }, [true, false], [0, 1, "", "true", null]],
      [{ type: "null" }, [null], [0, false, "", {}, []]],
    ]));

  it("6.2: numbers", () =>
    expectVerdicts([
      [{ multipleOf: 2 }, [10, "foo", 0, -4], [7, 0.5]],
      [{ multipleOf: 1.5 }, [0, 4.5, -1.5], [35, 1]],
      [{ multipleOf: 0.0001 }, [0.0075], [0.00751]],
      [{ type: "integer", multipleOf: 0.5 }, [text("1e308")], [1.5]],
      [text('{"multipleOf":0.123456789}'), [text("0.123456789e308"), text("1.23456789")], [text("1e308")]],
      [{ multipleOf: 3 }, [text(`3${"0".repeat(400)}`), text("9e399")], [text("1e400"), text("-1")]],
      [text('{"multipleOf":1e-400}'), [1, text("3e-400")], [text("1e-401")]],
      [text('{"maximum":18446744073709551600}'), [text("18446744073709551600")], [text("18446744073709551600.1")]],
      [
        text('{"exclusiveMaximum":972783798187987123879878123.18878137}'),
        [text("972783798187987123879878123.18878136999")],
        [text("972783798187987123879878123.188781371"), text("972783798187987123879878123.188781370")],
      ],
      [
        text('{"exclusiveMinimum":-972783798187987123879878123.18878137}'),
        [text("-972783798187987123879878123.18878136")],
        [text("-972783798187987123879878123.188781371"), text("-972783798187987123879878123.18878137")],
      ],
      [{ minimum: -2 }, [-1, 0, -2, text("-2.0")], [-3, text("-2.0001"), text("-1e400")]],
      [{ minimum: 0, maximum: 0 }, [text("-0"), text("0e99"), text("0.00")], [text("1e-400"), text("-1e-400")]],
    ]));

  it("6.3: strings, by code points", () =>
    expectVerdicts([
      [{ maxLength: 2 }, ["f", "💩💩", text('"\\ud83d\\udca9\\ud83d\\udca9"'), 100], ["foo", "💩💩💩"]],
      [{ minLength: 2 }, ["fo", "💩💩", 1], ["f", "💩", text('"\\ud83d\\udca9"')]],
      [text('{"minLength":2.0,"maxLength":3e0}'), ["ab", "abc"], ["a", "abcd"]],
      [{ maxLength: 1 }, ["é", text('"\\u00e9"'), text('"\\n"')], ["e\u0301", "\r\n"]],
      [{ pattern: "^abc$" }, ["abc", 1, {}], ["abc\n", "xabc", "ab", "ABC"]],
      [{ pattern: "abc" }, ["xxabcxx"], ["acb", ""]],
      [{ pattern: "" }, ["", "x"], []],
      [{ pattern: "^$" }, [""], ["x", "\n"]],
      [{ pattern: "^🐲$" }, ["🐲", text('"\\ud83d\\udc32"')], ["🐉", text('"\\ud83d"')]],
      [{ pattern: "a\\.b" }, ["a.b"], ["axb"]],
      [{ pattern: "^a*$" }, [], [], ["", "b"]],
      [{ pattern: "a.b" }, [], [], ["a.b"]],
      [{ pattern: "\\d" }, [], [], ["1", "x"]],
    ]));

  it("6.4 and 6.5: counts of items and members", () =>
    expectVerdicts([
      [text('{"minItems":1.0,"maxItems":2.0}'), [[1], [1, 2], "x"], [[], [1, 2, 3]]],
      [{ maxProperties: 0 }, [{}, []], [{ a: 1 }]],
      [text('{"minProperties":1.0}'), [{ a: 1 }, "", 12, []], [{}]],
      [
        { required: ["__proto__", "constructor"] },
        [text('{"__proto__":1,"constructor":2}'), [], 1],
        [{}, { constructor: 1 }],
      ],
      [{ required: ['foo\n"bar\\'] }, [{ 'foo\n"bar\\': 1 }], [{ foo: 1 }]],
      [{ properties: { a: {} }, required: ["a"] }, [{ a: null }], [{}, { b: 1 }]],
      [
        { dependentRequired: { quux: ["foo", "bar"], 'a"': ["b'"] } },
        [{}, { foo: 1, bar: 2, quux: 3 }, { foo: 1 }, ["quux"]],
        [{ foo: 1, quux: 2 }, { bar: 1, quux: 2 }, { quux: 1 }, { 'a"': 1 }],
      ],
      [
        { uniqueItems: true },
        [
          [
            [[1], "foo"],
            [[true], "foo"],
          ],
          [{ a: false }, { a: 0 }],
          [{}, [1], true, null, 1, "{}"],
          [[0], [false]],
          [null, 0],
        ],
        [
          [[1], [1]],
          [{ a: { b: { c: true } } }, { a: { b: { c: true } } }],
          [["foo"], ["bar"], ["foo"]],
          [null, null],
          [{}, {}],
        ],
      ],
      [{ uniqueItems: true }, [], [text("[1,1.00]"), text("[0,-0]"), text("[1e400,10e399]"), text('["a","\\u0061"]')]],
      [
        { prefixItems: [{ type: "boolean" }, true], uniqueItems: true, items: false },
        [[false, true]],
        [
          [false, false],
          [false, true, null],
        ],
      ],
    ]));

  it("7 and 9: format, content and annotations assert nothing", () =>
    expectVerdicts([
      ...["email", "date-time", "uri", "ipv4", "regex", "uuid", "nobody knows"].map(
        (format): Row => [{ format }, ["2962", 12, null], []],
      ),
      [{ contentMediaType: "application/json", contentEncoding: "base64", contentSchema: false }, ["{:}", "e30="], []],
      [{ properties: { a: { type: "integer", default: [] } } }, [{}, { a: 1 }], [{ a: [] }]],
      [{ title: 1, description: false, examples: "x", readOnly: "x", deprecated: [] }, [1], []],
    ]));
});

// Corners of the draft that are easily got wrong, beyond what the generator comes to: each row has been read from the specification.
import { expect } from "chai";
import { openJudge } from "./judge.ts";

let judge: Awaited<ReturnType<typeof openJudge>>;
before(async () => {
  judge = await openJudge();
});

type Row = readonly [
  schema: unknown,
  valid: readonly string[],
  invalid: readonly string[],
  unknown?: readonly string[],
];

// A schema that is a string is the text itself, for what JSON.stringify would write in another way.
async function expectVerdicts(rows: readonly Row[]): Promise<void> {
  const expected = rows.flatMap(([written, valid, invalid, unknown = []]) => {
    const schema = typeof written === "string" ? written : JSON.stringify(written);
    return [
      ...valid.map((json) => ({ schema, json, verdict: "valid" })),
      ...invalid.map((json) => ({ schema, json, verdict: "invalid" })),
      ...unknown.map((json) => ({ schema, json, verdict: "unknown" })),
    ];
  });
  const verdicts = await judge.judgeMany(expected);
  expect(expected.map((it, i) => ({ ...it, verdict: verdicts[i] }))).to.deep.equal(expected);
}

describe("corners of the draft", () => {
  it("references are pointers in a URI's fragment", () =>
    expectVerdicts([
      // Percent-encoded as UTF-8, in both cases of its digits; an encoded slash separates like any other.
      [{ $defs: { café: { type: "integer" } }, $ref: "#/$defs/caf%C3%A9" }, ["1"], ['"x"']],
      [{ $defs: { café: { type: "integer" } }, $ref: "#/$defs/caf%c3%a9" }, ["1"], ['"x"']],
      [{ $defs: { café: { type: "integer" } }, $ref: "#/$defs/café" }, ["1"], ['"x"']],
      [{ $defs: { a: { $defs: { b: { type: "integer" } } } }, $ref: "#/$defs/a%2F$defs%2Fb" }, ["1"], ['"x"']],
      // `~01` is `~1` and no slash.
      [{ $defs: { "~1": { type: "integer" }, "/": { type: "string" } }, $ref: "#/$defs/~01" }, ["1"], ['"x"']],
      ['{"$defs":{"a":{"type":"integer"}},"\\u0024ref":"#\\/$defs\\u002fa"}', ["1"], ['"x"']],
      [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: false } }, [], ["1"]],
      // Whatever stands beside a reference counts as well.
      [{ $ref: "#/$defs/a", $defs: { a: { type: "array" } }, maxItems: 2 }, ["[]"], ['"x"', "[1,2,3]"]],
      [{ $defs: { a: true }, $ref: "#/$defs/a", not: {} }, [], ["1"]],
      // An index has no zero before it, and `-` is behind the last item.
      [{ allOf: [true, { type: "integer" }], $ref: "#/allOf/1" }, ["1"], ['"x"']],
      [{ prefixItems: [{ type: "integer" }], $ref: "#/prefixItems/00" }, [], [], ['"x"', "1"]],
      [{ prefixItems: [{ type: "integer" }], $ref: "#/prefixItems/-" }, [], [], ["1"]],
      [{ prefixItems: [{ type: "integer" }], $ref: "#/prefixItems/1" }, [], [], ["1"]],
      [{ items: { type: "integer" }, $ref: "#/items/type" }, [], [], ["1"]],
      ...["", "?", "#a", "#%", "#/%4", "a#", "urn:x#/$defs/a", "//#", "#\u0000"].map(
        ($ref): Row => [{ $defs: { a: false }, $ref }, [], [], ["1"]],
      ),
    ]));

  it("a name changes what references mean, wherever it stands", () =>
    expectVerdicts([
      [{ $defs: { a: { $id: "b", type: "integer" } }, $ref: "#/$defs/a" }, [], [], ["1", '"x"']],
      // As a value of an enumeration it would not; nobody is convicted by that difference.
      [{ enum: [{ $id: "b" }], $defs: { a: true }, $ref: "#/$defs/a" }, [], ["1"], ['{"$id":"b"}']],
      // A property that is called so is none.
      [
        { properties: { $id: { type: "integer" } }, $defs: { a: true }, $ref: "#/$defs/a" },
        ['{"$id":1}'],
        ['{"$id":"x"}'],
      ],
      [{ $defs: { a: { $anchor: "b", type: "integer" } }, $ref: "#/$defs/a" }, ["1"], ['"x"']],
      [{ $defs: { a: { $dynamicAnchor: "b", type: "integer" } }, $dynamicRef: "#b" }, [], [], ["1", '"x"']],
      [{ $schema: "https://json-schema.org/draft/2020-12/schema#", type: "integer" }, ["1"], ['"x"']],
      [{ $schema: "https://json-schema.org/draft/2019-09/schema", type: "integer" }, [], [], ["1", '"x"']],
      [{ $schema: "http://example.org/my-own", type: "integer" }, [], [], ["1", '"x"']],
    ]));

  it("what was evaluated is not known, and decides nothing", () =>
    expectVerdicts([
      [{ properties: { a: true }, unevaluatedProperties: false }, ["{}"], [], ['{"a":1}', '{"b":1}']],
      [{ not: { unevaluatedProperties: false } }, [], ["{}"], ['{"b":1}']],
      [{ prefixItems: [true], unevaluatedItems: false }, ["[]"], [], ["[1]", "[1,2]"]],
      [{ oneOf: [{ unevaluatedItems: false }, { maxItems: 0 }] }, [], ["[]"], ["[1]"]],
      [{ unevaluatedProperties: true, unevaluatedItems: true }, ['{"a":1}', "[1]"], []],
      [{ unevaluatedProperties: { type: "string" }, type: "array" }, ["[1]"], ['{"a":1}']],
    ]));

  it("numbers are what they are worth, and not how they are kept", () =>
    expectVerdicts([
      [{ type: "integer", multipleOf: 0.123456789 }, [], ["1e308"]],
      ['{"type":"integer","multipleOf":1e-300}', ["1e308", "12391239123"], ["1e-301"]],
      ['{"multipleOf":1e308}', ["1e308", "2e308", "0", "-3e309"], ["1e307", "1.5e308"]],
      ['{"multipleOf":0.1e-5}', ["1e-6", "3"], ["1e-7"]],
      ['{"multipleOf":1.50}', ["3", "4.5", "-1.5e0"], ["1", "2.0"]],
      ['{"const":-0}', ["0", "-0.0", "0e-99"], ["false"]],
      ['{"const":-0.0}', ["0"], ["1"]],
      ['{"enum":[1e2,1.0]}', ["100", "1", "100.00e0", "0.001e3"], ["10", "true"]],
      ['{"const":9007199254740993}', ["9007199254740993.0"], ["9007199254740992", "9007199254740994"]],
      ['{"const":{"a":-2.0}}', ['{"a":-2}'], ['{"a":2}']],
      ['{"minimum":-0.0,"maximum":0e5}', ["0", "-0"], ["1e-999", "-1e-999"]],
      ['{"type":"integer"}', ["1e999", "-10.000e1", "123456789012345678901234567890"], ["1e-999", "10.000e-2", "0.5"]],
      ['{"uniqueItems":true}', ["[1,10,0.1]", "[-1,1]"], ["[100,1e2]", "[0,-0]", "[0.10,1e-1]"]],
    ]));

  it("booleans are no numbers, and nested values no others", () =>
    expectVerdicts([
      [{ uniqueItems: true }, ['[[1],[true],["1"]]', '[{"a":[0]},{"a":[false]}]', "[[[]],[],{}]"], ["[[0],[-0]]"]],
      [{ uniqueItems: true }, ['[{"a":1,"b":2},{"a":2,"b":1}]'], ['[{"a":1,"b":[2]},{"b":[2.0],"a":1}]']],
      [{ uniqueItems: true, prefixItems: [true, true], items: false }, ["[1,2]"], ["[1,1]", "[1,2,3]"]],
      [{ const: [false] }, ["[false]"], ["[0]", "[null]", '[""]']],
      [{ const: { a: true } }, ['{"a":true}'], ['{"a":1}']],
      [{ const: [{}] }, ["[{}]"], ["[[]]", "[null]"]],
      [{ enum: [null, "null", 0, false, ""] }, ["null", '"null"', "0", "false", '""'], ["[]", "{}", '"0"']],
    ]));

  it("strings are code points, however they are written", () =>
    expectVerdicts([
      ['{"enum":["a\\u0000b","\\u0000"]}', ['"a\\u0000b"', '"\\u0000"'], ['"a"', '""', '"a\\\\u0000b"']],
      [
        '{"maxLength":1}',
        ['"\\ud83d\\ude00"', '"\\uDBFF\\uDFFF"', '"\\ud800"'],
        ['"\\ude00\\ud83d"', '"\\ud83d\\u0041"'],
      ],
      ['{"minLength":2}', ['"\\ud83d\\ude00\\ud83d"', '"\\u0065\\u0301"'], ['"\\u00e9"']],
      ['{"const":"\\/"}', ['"/"'], ['"\\\\/"']],
      ['{"required":["\\u0066\\u006f\\u006f\\n"]}', ['{"foo\\n":1}'], ['{"foo\\\\n":1}', '{"foo":1}']],
      [
        '{"properties":{"foo\\tbar":false,"\\ud83d\\ude00":false}}',
        ['{"footbar":1}'],
        ['{"foo\\u0009bar":1}', '{"😀":1}'],
      ],
      ['{"propertyNames":{"maxLength":1}}', ['{"😀":1,"\\u0000":2}'], ['{"ab":1}']],
      ['{"dependentRequired":{"foo\\nbar":["foo\\rbar"]}}', ['{"foo\\nbar":1,"foo\\rbar":2}'], ['{"foo\\nbar":1}']],
      ['{"dependentSchemas":{"foo\'bar":{"minProperties":2}}}', ['{"foo\'bar":1,"b":2}'], ['{"foo\'bar":1}']],
    ]));

  it("names of keywords are names like any other where schemas are named", () =>
    expectVerdicts([
      [
        { properties: { type: { const: "x" }, properties: { type: "object" }, enum: true } },
        ['{"type":"x","properties":{}}'],
        ['{"type":"y"}', '{"properties":1}'],
      ],
      [
        { properties: { constructor: { type: "number" }, "": false } },
        ['{"constructor":1}'],
        ['{"constructor":{}}', '{"":0}'],
      ],
      [
        '{"properties":{"__proto__":{"required":["a"]}},"additionalProperties":false}',
        ['{"__proto__":{"a":1}}'],
        ['{"__proto__":{}}', '{"a":1}'],
      ],
      [
        { $defs: { type: { type: "string" } }, properties: { $ref: { $ref: "#/$defs/type" } } },
        ['{"$ref":"#/nowhere"}'],
        ['{"$ref":1}'],
      ],
      [{ const: { $ref: "#/nowhere", type: "integer" } }, ['{"type":"integer","$ref":"#/nowhere"}'], ["1"]],
      [{ required: ["$ref", "constructor"] }, ['{"$ref":1,"constructor":2}'], ['{"$ref":1}']],
    ]));

  it("keywords read their neighbours, and no others", () =>
    expectVerdicts([
      [{ contains: { type: "integer" }, minContains: 0, maxContains: 1 }, ["[]", "[1]", '["x"]'], ["[1,2]"]],
      [{ contains: false, minContains: 0 }, ["[]", "[1]"], []],
      [{ contains: { const: null } }, ["[null]"], ["[]", "[0]"]],
      [{ allOf: [{ contains: { type: "integer" } }], minContains: 0 }, ["[1]"], ["[]"]],
      [{ allOf: [{ prefixItems: [{ type: "integer" }] }], items: { type: "string" } }, ["[]"], ['[1,"x"]', "[1]"]],
      [
        { allOf: [{ properties: { a: true } }], properties: { b: true }, additionalProperties: false },
        ['{"b":1}'],
        ['{"a":1}'],
      ],
      [
        { properties: { a: { additionalProperties: false } }, additionalProperties: { type: "integer" } },
        ['{"a":{},"b":1}'],
        ['{"a":{"c":1}}', '{"b":"x"}'],
      ],
      ['{"allOf":[{"if":{"const":1}},{"then":false},{"else":false}]}', ["1", "2"], []],
      ['{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}}', ["5", '"x"'], ["4", "null", "5.5"]],
      ['{"then":false,"if":{"properties":{"a":false}},"else":true}', ['{"a":1}'], ["{}", "1"]],
      ['{"if":false,"then":false}', ["1"], []],
      [{ prefixItems: [], items: { type: "integer" } }, ["[1]"], ['["x"]']],
    ]));

  it("what only describes asserts nothing", () =>
    expectVerdicts([
      [
        { format: "ipv4", contentEncoding: "base64", contentSchema: false, default: 1, readOnly: true },
        ['"no address"'],
        [],
      ],
      [{ $comment: 1, $vocabulary: { x: true }, examples: 3, title: false }, ["1"], []],
      [
        { additionalItems: false, definitions: { a: false }, id: "x", divisibleBy: 2, disallow: "any" },
        ["3", "[1]"],
        [],
      ],
      [{ Minimum: 5, "min\u0000imum": 5, "minimum\u0000": 5 }, ["1"], []],
    ]));

  it("patterns that are plain match anywhere, unless they say where", () =>
    expectVerdicts([
      [{ pattern: "" }, ['""', '"x"'], []],
      [{ pattern: "^$" }, ['""', "1"], ['"x"', '"\\n"']],
      [{ pattern: "b" }, ['"abc"'], ['"ac"', '""']],
      [{ pattern: "^b" }, ['"bc"'], ['"ab"', '"a\\nb"']],
      [{ pattern: "b$" }, ['"ab"'], ['"b\\n"', '"ba"']],
      [{ pattern: "^á$" }, ['"á"', '"\\u00e1"'], ['"a\\u0301"']],
      [{ pattern: "😀" }, ['"x\\ud83d\\ude00"'], ['"\\ud83d"']],
      [{ pattern: "\\$\\.\\/" }, ['"$./"'], ['"$a/"']],
      ...["a|b", "a.", "[a]", "\\d", "\\-", "(a)", "a{2}", "a?", "a\\", "^^", "$a", "a^b", "\\u0061", "\\p{L}"].map(
        (pattern): Row => [{ pattern }, ["1"], [], ['"a"']],
      ),
    ]));
});

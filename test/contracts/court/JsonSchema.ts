import { expect } from "chai";
import { createAjv } from "../../../bench/court/askAjv.ts";
import { bytesOf } from "../../../bench/court/createJudgeMany.ts";
import { openJudge } from "./judge.ts";

let judge: Awaited<ReturnType<typeof openJudge>>;
before(async () => {
  judge = await openJudge();
});

type Row = readonly [schema: string, valid: readonly string[], invalid: readonly string[], unknown?: readonly string[]];

// Judges every row at once, and compares all verdicts, so that a failure shows every case that is not as it should be.
async function expectVerdicts(rows: readonly Row[]): Promise<void> {
  const expected = rows.flatMap(([schema, valid, invalid, unknown = []]) => [
    ...valid.map((json) => ({ schema, json, verdict: "valid" })),
    ...invalid.map((json) => ({ schema, json, verdict: "invalid" })),
    ...unknown.map((json) => ({ schema, json, verdict: "unknown" })),
  ]);
  const verdicts = await judge.judgeMany(expected);
  expect(expected.map((it, i) => ({ ...it, verdict: verdicts[i] }))).to.deep.equal(expected);
}

const OPEN = '{"$dynamicRef":"#x"}';

describe("what the draft says", () => {
  it("of kinds and equality", () =>
    expectVerdicts([
      ["true", ["null", "[]"], []],
      ["false", [], ["null", "{}"]],
      ["{}", ["1", "[[]]"], []],
      ['{"type":"integer"}', ["1", "1.0", "1e2", "-0", "10e-1", "0.0e5"], ["1.5", "1e-1", '"1"', "true"]],
      ['{"type":"number"}', ["1", "1.5"], ["null", "[]"]],
      ['{"type":["string","null"]}', ['""', "null"], ["1", "{}"]],
      ['{"type":["integer","string"]}', ["3.0", '"x"'], ["3.5"]],
      ['{"const":1}', ["1", "1.0", "100e-2"], ["true", '"1"', "[1]", "1.00000000000000000000000000001"]],
      ['{"const":false}', ["false"], ["0", "0.0", "null", "[false]"]],
      ['{"const":0}', ["0", "-0", "0.0", "0e10"], ["false", "{}", "[]", '""']],
      [
        '{"const":{"a":[1,{"b":null}],"c":"é"}}',
        ['{"c":"\\u00e9","a":[1.0,{"b":null}]}'],
        ['{"a":[1,{"b":null}]}', "{}"],
      ],
      ['{"const":[1,2]}', ["[1,2.0]"], ["[2,1]", "[1,2,3]", "[1]", "[[1,2]]"]],
      [
        '{"enum":[6,"foo",[],true,{"foo":12}]}',
        ["[]", '{"foo":12.0}', "6.0"],
        ["null", '{"foo":false}', "[6]", '{"foo":12,"boo":42}'],
      ],
      ['{"enum":[]}', [], ["null"]],
      [
        '{"uniqueItems":true}',
        ["[1,2]", "[1,true]", "[0,false]", '[1,"1"]', '[{"a":1},{"a":2}]', "[[1],[true]]", "[]"],
        ["[1,1]", "[1.0,1]", '[{"a":1,"b":2},{"b":2.0,"a":1}]', "[[1],[1.0]]", '["\\u0061","a"]'],
      ],
      ['{"uniqueItems":false}', ["[1,1]"], []],
    ]));

  it("of numbers, at any length", () =>
    expectVerdicts([
      ['{"minimum":1.1}', ["1.1", "1.10", "2.6", '"x"'], ["0.6", "1.0999999999999999999999999999999999"]],
      ['{"maximum":300}', ["300.00", "299.97", "3e2"], ["300.5", "3.0000000001e2"]],
      ['{"exclusiveMinimum":-2}', ["-1.9999999999999999999", "0"], ["-2", "-2.0", "-3"]],
      ['{"exclusiveMaximum":0}', ["-1e-400"], ["0", "-0.0", "1e-400"]],
      ['{"maximum":9007199254740992}', ["9007199254740992"], ["9007199254740993"]],
      ['{"minimum":-1e400}', ["-1e400", "-1e399"], ["-1e401"]],
      [
        `{"const":1${"0".repeat(80)}1}`,
        [`1${"0".repeat(80)}1`, `1${"0".repeat(80)}1.0`],
        [`1${"0".repeat(80)}2`, "1e81"],
      ],
      ['{"multipleOf":0.01}', ["0.01", "4.35", "19.99", "0", "1e308"], ["4.355", "1e-3"]],
      ['{"multipleOf":0.0001}', ["0.0075"], ["0.00751"]],
      ['{"multipleOf":1e-8}', ["12391239123"], ["1e-9"]],
      ['{"multipleOf":7}', [`7${"0".repeat(90)}7`, "-14", "7e300"], [`7${"0".repeat(90)}8`, "1e300", "3.5"]],
      ['{"multipleOf":25}', ["1e2", "-0.5e2"], ["1e1", "2.5"]],
      [`{"multipleOf":1${"0".repeat(90)}}`, ["1e90", "0"], ["1e89"]],
      [`{"multipleOf":${"9".repeat(77)}}`, ["9".repeat(77)], ["9".repeat(76)]],
      ['{"multipleOf":0}', [], [], ["1"]],
      ['{"multipleOf":-2}', [], [], ["4"]],
    ]));

  it("of strings, by code points", () =>
    expectVerdicts([
      ['{"minLength":2}', ['"ab"', '"😀é"', "1"], ['"a"', '"😀"', '"\\ud83d\\ude00"', '""']],
      [
        '{"maxLength":2}',
        ['"😀😀"', '"\\ud83d\\ude00\\uD83D\\uDE00"', '"\\ud83d\\ud83d"'],
        ['"😀😀a"', '"\\ud83d\\ud83d\\ud83d"', '"e\\u0301e"'],
      ],
      ['{"maxLength":2.0}', ['"ab"'], ['"abc"']],
      ['{"maxLength":1e400}', ['"abc"'], []],
      ['{"minLength":1e400}', [], ['"abc"']],
      [
        `{"maxLength":70}`,
        [`"${"ü".repeat(70)}"`, `"${"a".repeat(70)}"`],
        [`"${"ü".repeat(71)}"`, `"${"a".repeat(71)}"`],
      ],
      ['{"const":"\\ud83d\\ude00"}', ['"😀"', '"\\uD83D\\uDE00"'], ['"\\ud83d"', '"\\ude00\\ud83d"']],
      ['{"const":"a\\u0000b"}', ['"a\\u0000b"'], ['"ab"', '"a"']],
    ]));

  it("of arrays", () =>
    expectVerdicts([
      ['{"items":{"type":"integer"}}', ["[]", "[1,2]", '{"0":"x"}'], ['[1,"x"]']],
      ['{"items":false}', ["[]"], ["[1]"]],
      ['{"prefixItems":[{"type":"integer"},{"type":"string"}]}', ["[]", "[1]", '[1,"a",null]'], ['["a",1]', "[1,2]"]],
      ['{"prefixItems":[true],"items":{"type":"integer"}}', ['["x",1]', '["x"]'], ['["x","y"]']],
      ['{"prefixItems":[true],"items":false}', ["[1]", "[]"], ["[1,2]"]],
      ['{"contains":{"minimum":5}}', ["[3,5]", '"x"'], ["[]", "[1]"]],
      ['{"contains":{"minimum":5},"minContains":0}', ["[]", "[1]"], []],
      ['{"contains":{"minimum":5},"minContains":2,"maxContains":3}', ["[5,6]", "[5,6,1,7]"], ["[5]", "[5,6,7,8]"]],
      ['{"contains":true,"maxContains":0}', [], ["[]", "[1]"]],
      ['{"minContains":2}', ["[]"], []],
      ['{"maxContains":0}', ["[1]"], []],
      ['{"minItems":1,"maxItems":2.0}', ["[1]", "[1,2]", "{}"], ["[]", "[1,2,3]"]],
    ]));

  it("of objects", () =>
    expectVerdicts([
      ['{"properties":{"a":{"type":"integer"},"b":false}}', ["{}", '{"a":1}', "[]"], ['{"a":"x"}', '{"b":1}']],
      [
        '{"properties":{"foo\\"bar":{"type":"number"},"\\u0000":false}}',
        ['{"foo\\"bar":1}', '{"":1}'],
        ['{"foo\\"bar":"1"}', '{"\\u0000":1}'],
      ],
      [
        '{"properties":{"__proto__":{"type":"number"},"toString":{"type":"number"}}}',
        ["{}"],
        ['{"__proto__":"x"}', '{"toString":"x"}'],
      ],
      ['{"required":["__proto__","toString"]}', ['{"__proto__":1,"toString":1}'], ["{}", '{"__proto__":1}']],
      ['{"required":["","a"]}', ['{"":1,"a":2}'], ['{"a":""}', "{}"]],
      ['{"required":[]}', ["{}"], []],
      ['{"patternProperties":{"^x-":{"type":"integer"}}}', ['{"x-a":1,"a":"b"}', '{"ax-":"b"}'], ['{"x-a":"b"}']],
      [
        '{"patternProperties":{"a":{"type":"integer"},"aaa$":{"maximum":20}}}',
        ['{"aaa":18}', '{"aaab":31}'],
        ['{"a":"x"}', '{"aaa":31}', '{"baaa":31}'],
      ],
      [
        '{"patternProperties":{"^\\\\$ref$":false,"é":false}}',
        ['{"$refs":1,"e":1}'],
        ['{"$ref":1}', '{"caf\\u00e9":1}'],
      ],
      [
        '{"properties":{"foo":{}},"patternProperties":{"^v":{}},"additionalProperties":false}',
        ['{"foo":1,"vroom":2}', "[]"],
        ['{"foo":1,"boom":2}'],
      ],
      ['{"additionalProperties":{"type":"boolean"}}', ['{"a":true}'], ['{"a":1}']],
      ['{"allOf":[{"properties":{"a":{}}}],"additionalProperties":false}', ["{}"], ['{"a":1}']],
      ['{"propertyNames":{"maxLength":3}}', ['{"abc":1}', "{}", "[]"], ['{"abcd":1}']],
      ['{"propertyNames":{"enum":["a","\\u0062"]}}', ['{"a":1,"b":2}'], ['{"c":1}']],
      ['{"propertyNames":false}', ["{}"], ['{"a":1}']],
      ['{"minProperties":1,"maxProperties":2}', ['{"a":1}', '{"a":1,"b":2}'], ["{}", '{"a":1,"b":2,"c":3}']],
      ['{"dependentRequired":{"b":["a"],"c":[]}}', ["{}", '{"a":1,"b":2}', '{"c":1}', '"b"'], ['{"b":1}']],
      ['{"dependentSchemas":{"b":{"required":["a"]},"c":false}}', ['{"a":1,"b":2}'], ['{"b":1}', '{"c":1}']],
    ]));

  it("of combinations", () =>
    expectVerdicts([
      ['{"allOf":[{"minimum":1},{"maximum":2}]}', ["1", "2"], ["0", "3"]],
      ['{"anyOf":[{"type":"integer"},{"minimum":2}]}', ["1", "2.5", '"x"'], ["1.5"]],
      ['{"oneOf":[{"type":"integer"},{"minimum":2}]}', ["1", "2.5"], ["3", "1.5"]],
      ['{"oneOf":[true,true,false]}', [], ["1"]],
      ['{"not":{"type":"integer"}}', ['"x"'], ["1"]],
      ['{"not":{"not":{"type":"integer"}}}', ["1"], ['"x"']],
      ['{"if":{"exclusiveMaximum":0},"then":{"minimum":-10},"else":{"multipleOf":2}}', ["-1", "4"], ["-100", "3"]],
      ['{"if":{"const":0},"then":{"minimum":5}}', ["1"], ["0"]],
      ['{"then":false,"else":false}', ["1"], []],
      ['{"if":true,"else":false}', ["1"], []],
    ]));

  it("of references", () =>
    expectVerdicts([
      [
        '{"properties":{"foo":{"$ref":"#"}},"additionalProperties":false}',
        ['{"foo":{"foo":{}}}'],
        ['{"foo":{"bar":1}}'],
      ],
      ['{"$defs":{"a":{"type":"integer"}},"$ref":"#/$defs/a","maximum":5}', ["5"], ["6", '"x"']],
      ['{"$defs":{"t~/%\\"":{"type":"integer"}},"$ref":"#/$defs/t~0~1%25%22"}', ["1"], ['"x"']],
      ['{"prefixItems":[{"type":"integer"},{"$ref":"#/prefixItems/0"}]}', ["[1,2]"], ['[1,"x"]']],
      ['{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"integer"}},"$ref":"#/%24defs/a"}', ["1"], ['"x"']],
      ['{"properties":{"$ref":{"type":"string"}}}', ['{"$ref":"a"}'], ['{"$ref":2}']],
      [
        '{"properties":{"$ref":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}',
        ['{"$ref":"a"}'],
        ['{"$ref":2}'],
      ],
      ['{"enum":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"integer"}}}', ['{"$ref":"#/$defs/a"}'], ["12"]],
      ['{"$defs":{"":{"$defs":{"":{"type":"number"}}}},"$ref":"#/$defs//$defs/"}', ["1"], ['"x"']],
      ['{"$ref":"#/$defs/b","$defs":{"b":true}}', ["1"], []],
      ['{"$id":"http://a.b/","$defs":{"a":{"type":"integer"}},"$ref":"#/$defs/a"}', ["1"], ['"x"']],
      ['{"$ref":"#/$defs/none"}', [], [], ["1"]],
      ['{"$ref":"#/$defs/a","$defs":{"a":5}}', [], [], ["1"]],
      ['{"$ref":"#a","$defs":{"a":{"$anchor":"a","type":"integer"}}}', ["1"], ['"x"']],
      ['{"$ref":"other.json"}', [], [], ["1"]],
      ['{"$ref":"#/%zz"}', [], [], ["1"]],
      ['{"$ref":"#/a~2"}', [], [], ["1"]],
      ['{"$ref":"#"}', [], [], ["1"]],
      ['{"$defs":{"a":{"$id":"x","$defs":{"b":true},"$ref":"#/$defs/b"},"b":false},"$ref":"#/$defs/a"}', [], [], ["1"]],
    ]));

  it("of what asserts nothing", () =>
    expectVerdicts([
      [
        '{"format":"email","title":3,"$comment":"c","default":[],"examples":[1],"deprecated":true,"x":{"not":{}}}',
        ["1", '"x"'],
        [],
      ],
      [
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://a.b/","type":"integer"}',
        ["1"],
        ['"x"'],
      ],
      [
        '{"$defs":{"a":false},"definitions":{"b":false},"$anchor":"a","$dynamicAnchor":"b","$vocabulary":{}}',
        ["1"],
        [],
      ],
      ['{"additionalItems":false,"contentMediaType":"application/json","readOnly":true}', ["[1]", '"x"'], []],
      ['{"Type":"integer","type ":"integer"}', ['"x"'], []],
    ]));
});

describe("what is unknown", () => {
  it("stays unknown, and decides nothing", () =>
    expectVerdicts([
      [OPEN, [], [], ["1"]],
      ['{"pattern":"^[a-z]+$"}', ["1", "[]"], [], ['"x"', '"1"']],
      ['{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}', [], [], ["1", '"x"']],
      ['{"allOf":[{"$schema":"http://json-schema.org/draft-04/schema#"}],"type":"string"}', [], [], ["1"]],
      ['{"unevaluatedProperties":false}', ["{}", "1"], [], ['{"a":1}']],
      ['{"unevaluatedItems":false}', ["[]", "1"], [], ["[1]"]],
      ['{"dependencies":{"a":["b"]}}', [], [], ['{"a":1}']],
      [`{"not":${OPEN}}`, [], [], ["1"]],
      [`{"allOf":[${OPEN},{"type":"string"}]}`, [], ["1"], ['"x"']],
      [`{"type":"string","not":${OPEN}}`, [], ["1"], ['"x"']],
      [`{"anyOf":[${OPEN},{"type":"string"}]}`, ['"x"'], [], ["1"]],
      [`{"oneOf":[${OPEN},{"type":"string"}]}`, [], [], ["1", '"x"']],
      [`{"oneOf":[${OPEN},{"type":"string"},{"minLength":0}]}`, [], ['"x"'], []],
      [`{"oneOf":[${OPEN},false]}`, [], [], ["1"]],
      [`{"if":${OPEN},"then":{"type":"string"},"else":{"type":"number"}}`, [], ["null"], ["1", '"x"']],
      [`{"if":${OPEN},"then":{"type":"string"}}`, ['"x"'], [], ["1"]],
      [`{"if":true,"then":${OPEN},"else":false}`, [], [], ["1"]],
      [`{"contains":${OPEN}}`, [], ["[]"], ["[1]"]],
      [
        `{"contains":{"anyOf":[{"type":"string"},${OPEN}]},"minContains":2,"maxContains":2}`,
        ['["a","b"]'],
        ['["a"]', '["a","b","c",1]'],
        ['["a",1]', '["a","b",1]'],
      ],
      [`{"contains":${OPEN},"minContains":0}`, ["[1]", "[]"], []],
      [`{"propertyNames":${OPEN}}`, ["{}"], [], ['{"a":1}']],
      ['{"patternProperties":{"[a]":{"type":"string"}}}', ['{"a":"x"}', "{}"], [], ['{"a":1}', '{"b":1}']],
      ['{"patternProperties":{"[a]":true},"additionalProperties":false}', ["{}"], [], ['{"a":1}']],
      ['{"patternProperties":{"[a]":true,"^b":true},"additionalProperties":false}', ['{"b":1}'], [], ['{"c":1}']],
    ]));

  it("includes whether null is what validators of the draft let through, beside a keyword of OpenAPI", () =>
    expectVerdicts([
      ['{"type":"string","nullable":true}', ['"x"'], ["1"], ["null"]],
      ['{"type":["string","integer"],"nullable":true}', ["1"], ["true"], ["null"]],
      ['{"type":"null","nullable":true}', ["null"], ["1"]],
      ['{"type":"string","nullable":false}', ['"x"'], ["null"]],
      ['{"type":"string","nullable":"true"}', ['"x"'], ["null"]],
      ['{"not":{"type":"string","nullable":true}}', ["1"], ['"x"'], ["null"]],
      ['{"type":"string","nullable":true,"enum":["a"]}', ['"a"'], ["null"]],
    ]));

  it("includes keywords whose value makes no sense", () =>
    expectVerdicts(
      [
        '{"type":"float"}',
        '{"type":[]}',
        '{"type":["string",1]}',
        '{"type":3}',
        '{"enum":1}',
        '{"allOf":[]}',
        '{"allOf":{}}',
        '{"anyOf":[]}',
        '{"oneOf":true}',
        '{"not":1}',
        '{"$ref":1}',
        '{"if":1,"then":false,"else":true}',
      ].map((schema): Row => [schema, [], [], ["1"]]),
    ));

  it("includes such keywords only where they apply", () =>
    expectVerdicts([
      ['{"minLength":-1}', ["1"], [], ['"x"']],
      ['{"minLength":1.5}', [], [], ['"x"']],
      ['{"minLength":"1"}', [], [], ['"x"']],
      ['{"minimum":"1"}', ['"x"'], [], ["1"]],
      ['{"items":[{"type":"string"}]}', ["[]", "1"], [], ["[1]"]],
      ['{"prefixItems":{}}', ["1"], [], ["[1]"]],
      ['{"items":true,"prefixItems":{}}', [], [], ["[1]"]],
      ['{"contains":true,"minContains":"1"}', [], [], ["[1]"]],
      ['{"uniqueItems":1}', [], [], ["[1,1]"]],
      ['{"required":"a"}', [], [], ["{}"]],
      ['{"required":[1]}', [], [], ["{}"]],
      ['{"required":["a",1]}', [], [], ["{}", '{"a":1}']],
      ['{"required":["a",1,"b"]}', [], [], ["{}", '{"a":1,"b":1}']],
      ['{"properties":[]}', [], [], ["{}"]],
      ['{"properties":[],"additionalProperties":false}', [], [], ['{"a":1}']],
      ['{"dependentRequired":{"a":1}}', ["{}"], [], ['{"a":1}']],
      ['{"pattern":1}', ["1"], [], ['"x"']],
    ]));

  it("includes a schema that is no JSON", () =>
    expectVerdicts(
      ["", "{", "tru", '{"type":"string",}', "[]", "1", '"x"'].map((schema): Row => [schema, [], [], ["1"]]),
    ));
});

describe("the text", () => {
  it("is JSON to the letter, or invalid", () =>
    expectVerdicts([
      [
        "true",
        [
          " 1 ",
          "\t[\r\n]\n",
          "{ }",
          '"\\b\\f\\n\\r\\t\\/\\\\\\""',
          "-0",
          "0.10",
          "1E+2",
          "1e-0",
          "[[[[]]]]",
          '{"a":{"a":[{}]}}',
          '"\u007f"',
        ],
        [
          "",
          " ",
          "[",
          "]",
          "{",
          "}",
          "[1,]",
          "[,1]",
          "[1 2]",
          '{"a"}',
          '{"a":}',
          '{"a":1,}',
          "{a:1}",
          '{"a":1 "b":2}',
          '{"\\x":1}',
          '{"a',
          '{"\\u12":1}',
          "{1:2}",
        ],
      ],
      [
        "true",
        [],
        ["01", "-", "+1", "1.", ".5", "1e", "1e+", "-01", "0x1", "1_0", "NaN", "Infinity", "1 1", "--1", "1.e2"],
      ],
      [
        "true",
        [],
        [
          "nul",
          "nulll",
          "True",
          "truefalse",
          "null null",
          "[true",
          '"a',
          '"\\x"',
          '"\\u12"',
          '"\\u12g4"',
          '"\t"',
          '"\n"',
          '"\\"',
          "'a'",
        ],
      ],
      [
        "true",
        [],
        [
          "[1}",
          '{"a":1]',
          "[]]",
          "{}}",
          "[]1",
          '"a"b',
          "\ufeff1",
          "1\u00a0",
          "1\u0000",
          '"\u0000"',
          "\u000b1",
          "/**/1",
        ],
      ],
    ]));

  it("is UTF-8, or invalid", async () => {
    const bad = [
      "80",
      "bf",
      "c0af",
      "c1bf",
      "c2",
      "c220",
      "e0",
      "e080af",
      "e09fbf",
      "e28a",
      "eda080",
      "edbfbf",
      "f08080af",
    ];
    const worse = ["f08fbfbf", "f4908080", "f5808080", "ff", "fe", "f0908d", "e228a1", "c3c3a9"];
    for (const bytes of [...bad, ...worse]) {
      const [verdict] = await judge.contract.validate(bytesOf("true"), `0x22${bytes}22`);
      expect({ bytes, verdict }).to.deep.equal({ bytes, verdict: 2n });
    }
    for (const bytes of ["c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf"]) {
      const [verdict] = await judge.contract.validate(bytesOf('{"minLength":1,"maxLength":1}'), `0x22${bytes}22`);
      expect({ bytes, verdict }).to.deep.equal({ bytes, verdict: 1n });
    }
  });

  it("says of a name that it has twice what it says last", () =>
    expectVerdicts([
      [
        '{"properties":{"a":{"const":2}},"maxProperties":1}',
        ['{"a":1,"a":2}', '{"a":1,"\\u0061":3,"a":2}'],
        ['{"a":2,"a":1}'],
      ],
      ['{"type":"string","type":"number"}', ["1"], ['"x"']],
      ['{"const":{"a":2}}', ['{"a":1,"a":2}'], ['{"a":2,"a":1}']],
    ]));

  it("may be as deep as it likes where the schema does not follow", () =>
    expectVerdicts([
      ['{"type":"array"}', ["[".repeat(1000) + "]".repeat(1000)], ["[".repeat(1000)]],
      ['{"uniqueItems":true}', [], [`[${"[".repeat(200)}${"]".repeat(200)},${"[".repeat(200)}${"]".repeat(200)}]`]],
    ]));

  it("may have many members, in whatever order hurts most", async () => {
    const names = Array.from({ length: 100 }, (_, i) => `"${i}":${i}`);
    const forwards = `{${names.join(",")}}`;
    const backwards = `{${names.toReversed().join(",")}}`;
    const wrong = `{${names.toReversed().join(",").replace(":7,", ":8,")}}`;
    await expectVerdicts([
      [`{"const":${forwards},"required":["0","50","99"],"maxProperties":100}`, [forwards, backwards], [wrong]],
    ]);
  });
});

describe("bounds", () => {
  const within = (depth: number, [before, after]: readonly [string, string], inside: string) =>
    before.repeat(depth) + inside + after.repeat(depth);

  // Every way in which a schema applies another one, with what takes its values as deep.
  const ways = [
    [
      ['{"items":', "}"],
      ["[", "]"],
    ],
    [
      ['{"prefixItems":[', "]}"],
      ["[", "]"],
    ],
    [
      ['{"contains":', "}"],
      ["[", "]"],
    ],
    [
      ['{"properties":{"a":', "}}"],
      ['{"a":', "}"],
    ],
    [
      ['{"patternProperties":{"a":', "}}"],
      ['{"a":', "}"],
    ],
    [
      ['{"additionalProperties":', "}"],
      ['{"a":', "}"],
    ],
    [
      ['{"allOf":[', "]}"],
      ["", ""],
    ],
    [
      ['{"anyOf":[', "]}"],
      ["", ""],
    ],
    [
      ['{"oneOf":[', "]}"],
      ["", ""],
    ],
    [
      ['{"not":{"not":', "}}"],
      ["", ""],
    ],
    [
      ['{"if":true,"then":', "}"],
      ["", ""],
    ],
    [
      ['{"if":false,"else":', "}"],
      ["", ""],
    ],
  ] as const;

  it("of depth: each keyword reaches it with stack to spare, and is unknown beyond it", async () => {
    for (const [schema, json] of ways) {
      // Two negations are two levels.
      const depth = schema[0].startsWith('{"not"') ? 19 : 39;
      const verdicts = await judge.judgeMany([
        { schema: within(depth, schema, '{"type":"string"}'), json: within(depth, json, "1") },
        { schema: within(depth, schema, '{"type":"string"}'), json: within(depth, json, '"x"') },
        { schema: within(depth + 1, schema, '{"type":"string"}'), json: within(depth + 1, json, "1") },
      ]);
      expect([schema[0], ...verdicts]).to.deep.equal([schema[0], "invalid", "valid", "unknown"]);
    }
  });

  it("of depth: a reference that goes in circles ends", () =>
    expectVerdicts([
      ['{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}', [], [], ["1"]],
      ['{"not":{"$ref":"#"}}', [], [], ["1"]],
      ['{"$ref":"#","type":"string"}', [], ["1"], ['"x"']],
    ]));

  it("of exponents and divisors", () =>
    expectVerdicts([
      [
        '{"maximum":1}',
        [`1e-${"9".repeat(60)}`],
        [`1e${"9".repeat(60)}`],
        [`1e${"9".repeat(61)}`, `0e${"0".repeat(61)}`],
      ],
      [`{"multipleOf":1${"0".repeat(76)}1}`, [], [], ["1"]],
    ]));

  it("of texts", async () => {
    const long = `"${"a".repeat(65_534)}"`;
    await expectVerdicts([['{"maxLength":65533}', [], [long], [`${long} `]]]);
  });
});

describe("where a text fails", () => {
  const where = async (schema: string, json: string) => {
    const [verdict, schemaOffset, jsonOffset] = await judge.contract.validate(bytesOf(schema), bytesOf(json));
    expect(verdict).to.equal(2n);
    return [schema.slice(Number(schemaOffset)), json.slice(Number(jsonOffset))];
  };

  it("is the keyword and the value", async () => {
    expect(await where('{"properties":{"a":{"type":"string"}}}', '{"b":0,"a":1}')).to.deep.equal([
      '"type":"string"}}}',
      "1}",
    ]);
    expect(await where('{"items":false}', "[ 7]")).to.deep.equal(["false}", "7]"]);
    expect(await where('{"anyOf":[{"type":"null"},{"required":["a"]}]}', "{}")).to.deep.equal([
      '"anyOf":[{"type":"null"},{"required":["a"]}]}',
      "{}",
    ]);
    expect(await where('{"$defs":{"a":{"minimum":2}},"$ref":"#/$defs/a"}', "1")).to.deep.equal([
      '"minimum":2}},"$ref":"#/$defs/a"}',
      "1",
    ]);
  });

  it("is where the text stops being JSON", async () => {
    expect(await where("{}", '{"a":1,}')).to.deep.equal(["{}", "}"]);
    expect(await where("{}", "[1,2")).to.deep.equal(["{}", ""]);
  });
});

// Where Ajv does not follow the draft, the draft counts.
describe("where Ajv and the draft differ, the draft wins:", () => {
  const differences: readonly (readonly [what: string, schema: string, json: string, verdict: "valid" | "invalid"])[] =
    [
      ["numbers beyond a double", '{"maximum":9007199254740992}', "9007199254740993", "invalid"],
      ["numbers that a double cannot tell apart", '{"const":0.1}', "0.10000000000000000001", "invalid"],
      ["multiples that a double misses", '{"multipleOf":0.01}', "4.35", "valid"],
      ["large multiples", '{"multipleOf":0.5}', "1e21", "valid"],
      [
        "a property that ECMAScript treats otherwise",
        '{"properties":{"__proto__":false}}',
        '{"__proto__":1}',
        "invalid",
      ],
      [
        "pointers, decoded before they are taken apart (RFC 6901)",
        '{"$ref":"#/$defs/a%2Fb","$defs":{"a/b":{"type":"integer"},"a":{"b":true}}}',
        '"x"',
        "valid",
      ],
      [
        "contains beside prefixItems, of an empty array",
        '{"prefixItems":[{"type":"null"}],"contains":true}',
        "[]",
        "invalid",
      ],
    ];
  for (const [what, schema, json, verdict] of differences) {
    it(what, async () => {
      expect(createAjv()({ schema, json })).not.to.equal(verdict);
      expect(await judge.judgeMany([{ schema, json }])).to.deep.equal([verdict]);
    });
  }
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAjv } from "../../../bench/court/askAjv.ts";
import { type Case, generateCases } from "../../../bench/court/cases/generateCases.ts";
import { compareWithAjv } from "../../../bench/court/compareWithAjv.ts";
import { type Judge, openJudge } from "../../../bench/court/openJudge.ts";
import { judgeAnswer } from "../../../marketplace/toolkit/index.ts";
import { createRng } from "../../simulator/rng.ts";

const SEED = 20260916;

let judge: Judge;
beforeAll(async () => {
  judge = await openJudge();
});
afterAll(() => judge.close());

describe("the judge of schemas", () => {
  it("decides as Ajv does, or not at all", async () => {
    const { counts, accepted, differences } = await compareWithAjv(judge, generateCases(1_500, SEED));
    expect(differences).toEqual([]);
    expect(counts.unknown).toBeLessThan(counts.cases / 10);
    // Neither side of the question is rare.
    expect(Math.min(accepted.valid, accepted.invalid)).toBeGreaterThan(counts.cases / 4);
  });

  // What is undecided is a schema that the court leaves open. Whatever it turns out to be, a verdict that was reached
  // without it must stand.
  it("never takes what is undecided for decided", async () => {
    const rng = createRng(SEED);
    const open = generateCases(1_000, SEED + 1).map((it) => ({ ...it, schema: leaveOpen(it.schema, rng.next) }));
    const verdicts = await judge.judgeMany(open);
    const decided = open.flatMap((it, i) => (verdicts[i] === "unknown" ? [] : [{ ...it, verdict: verdicts[i] }]));
    expect(decided.length).toBeGreaterThan(100);
    expect(decided.length).toBeLessThan(open.length);
    for (const answer of [() => "true", () => "false", () => String(rng.happens(0.5))]) {
      const closed = decided.map(({ schema, json }): Case => ({ schema: schema.replaceAll(OPEN, answer), json }));
      const again = await judge.judgeMany(closed);
      for (const [i, it] of decided.entries()) expect({ ...it, verdict: again[i] }).toEqual(it);
    }
  });

  it("agrees with the toolkit wherever both decide", async () => {
    const cases = generateCases(500, SEED + 2);
    const verdicts = await judge.judgeMany(cases);
    let decided = 0;
    for (const [i, { schema, json }] of cases.entries()) {
      const twin = judgeAnswer(JSON.parse(schema), JSON.parse(json));
      if (twin === "unknown") continue;
      expect({ schema, json, verdict: twin }).toEqual({ schema, json, verdict: verdicts[i] });
      decided += 1;
    }
    expect(decided).toBeGreaterThan(cases.length / 2);
  });

  it("is never contradicted by the toolkit, however hard a schema is to decide", async () => {
    const verdicts = await judge.judgeMany(HARD);
    for (const [i, { schema, json }] of HARD.entries()) {
      const twin = judgeAnswer(JSON.parse(schema), JSON.parse(json));
      if (twin !== "unknown") expect({ schema, json, verdict: twin }).toEqual({ schema, json, verdict: verdicts[i] });
    }
    // What is a matter of counting is decided, and exactly.
    const decided = HARD.filter(({ schema }) => schema.includes("multipleOf"));
    for (const { schema, json } of decided)
      expect(judgeAnswer(JSON.parse(schema), JSON.parse(json))).not.toBe("unknown");
  });

  it("is compared with an Ajv that can refuse", () => {
    const ask = createAjv();
    expect(ask({ schema: '{"type":"string"}', json: "1" })).toBe("invalid");
    expect(ask({ schema: '{"type":"string"}', json: '"1"' })).toBe("valid");
  });
});

const nested = (levels: number, innermost: string, wrap: (inner: string) => string) =>
  Array.from({ length: levels }).reduce<string>(wrap, innermost);

// Where doubles, validators and the court could part.
const HARD: Case[] = [
  ...[
    ["1", "1.0000000001"],
    ["3", "1e300"],
    ["7", "1e23"],
    ["0.01", "0.0100000000001"],
    ["0.01", "19.99"],
    ["1e-9", "4.000000001"],
    ["1e300", "1e-300"],
    ["0.1", "-0.3"],
    ["2", "0"],
  ].map(([divisor, json = ""]) => ({ schema: `{"multipleOf":${divisor}}`, json })),
  { schema: '{"prefixItems":[true],"contains":true}', json: "[]" },
  { schema: '{"prefixItems":[{"type":"string"}],"contains":{"type":"number"}}', json: '["a"]' },
  { schema: '{"type":"object","required":["price"],"default":{"$schema":"x"}}', json: "{}" },
  { schema: '{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}},"examples":[{"$id":"x"}]}', json: "1" },
  { schema: nested(60, '{"type":"string"}', (inner) => `{"allOf":[${inner}]}`), json: "1" },
  { schema: nested(39, '{"type":"string"}', (inner) => `{"allOf":[${inner}]}`), json: "1" },
  {
    schema: '{"type":["object","null"],"properties":{"a":{"$ref":"#"}}}',
    json: nested(30, "1", (inner) => `{"a":${inner}}`),
  },
  { schema: '{"items":{"$ref":"#"},"minItems":1}', json: nested(10, "[]", (inner) => `[${inner}]`) },
  { schema: '{"$ref":"#"}', json: "1" },
  // Ajv reads no name of `__proto__`.
  { schema: '{"properties":{"__proto__":{"type":"string"}}}', json: '{"__proto__":1}' },
  { schema: '{"dependentRequired":{"__proto__":["a"]}}', json: '{"__proto__":1}' },
  { schema: '{"properties":{"__proto__":true},"additionalProperties":false}', json: '{"__proto__":1}' },
  { schema: '{"maxLength":3}', json: `"${"a".repeat(70_000)}"` },
];

const OPEN = '{"$dynamicRef":"#open"}';

type Node = boolean | { readonly [keyword: string]: unknown };

const HOLE: Node = { $dynamicRef: "#open" };
const SIMPLE = /^(type|const|minimum|maxLength)$/;
const WITH_SCHEMAS =
  /^(not|if|then|else|items|prefixItems|contains|additionalProperties|propertyNames|(all|any|one)Of)$/;
const WITH_NAMED_SCHEMAS = /^(properties|patternProperties|dependentSchemas|\$defs)$/;

// Puts an undecided schema in the place of about half of those that are a boolean or one simple keyword.
function leaveOpen(schema: string, random: () => number): string {
  const visitAll = (schemas: object) =>
    Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, visit(inner)]));
  const visit = (it: Node): Node => {
    const keywords = typeof it === "boolean" ? [] : Object.keys(it);
    const isSimple = typeof it === "boolean" || (keywords.length === 1 && SIMPLE.test(String(keywords[0])));
    if (isSimple) return random() < 0.5 ? HOLE : it;
    const visited = Object.entries(it).map(([keyword, value]) => {
      if (WITH_NAMED_SCHEMAS.test(keyword)) return [keyword, visitAll(value as object)];
      if (!WITH_SCHEMAS.test(keyword)) return [keyword, value];
      return [keyword, Array.isArray(value) ? value.map(visit) : visit(value as Node)];
    });
    return Object.fromEntries(visited);
  };
  return JSON.stringify(visit(JSON.parse(schema)));
}

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Case } from "../../../bench/court/cases/generateCases.ts";
import { type Judge, openJudge } from "../../../bench/court/openJudge.ts";
import { judgeAnswer } from "../../../marketplace/toolkit/index.ts";

// The official suite, as npm has it: draft 4, of which most keywords mean in 2020-12 what they meant then.
const SUITE = join(
  dirname(createRequire(import.meta.url).resolve("json-schema-test-suite/package.json")),
  "tests/draft4",
);

type Group = { description: string; schema: unknown; tests: { description: string; data: unknown; valid: boolean }[] };

// What means something else in 2020-12, or is not decided, by file and group. What has no group is all of its file.
const LEFT_OUT: Readonly<Record<string, string>> = {
  additionalItems: "`items` with a list is `prefixItems` in 2020-12, and `additionalItems` is gone",
  "items: an array of schemas for items": "`items` with a list is `prefixItems` in 2020-12",
  "ref: relative pointer ref to array": "`items` with a list is `prefixItems` in 2020-12",
  dependencies: "it is two keywords in 2020-12; validators differ in whether they still know it, so it is undecided",
  "minimum: exclusiveMinimum validation": "`exclusiveMinimum` is a number in 2020-12",
  "maximum: exclusiveMaximum validation": "`exclusiveMaximum` is a number in 2020-12",
  "optional/zeroTerminatedFloats": "1.0 is an integer in 2020-12",
  definitions: "it refers to the schema of draft 4, which is remote",
  refRemote: "nothing that is not in the schema is fetched",
  "ref: remote ref, containing refs itself": "nothing that is not in the schema is fetched",
  "pattern: pattern validation": "the pattern repeats, which is not decided",
  "pattern: pattern is not anchored": "the pattern repeats, which is not decided",
  "patternProperties: patternProperties validates properties matching a regex": "the pattern is not plain",
  "patternProperties: multiple simultaneous patternProperties are validated": "a pattern is not plain",
  "patternProperties: regexes are not anchored by default and are case sensitive": "a pattern is not plain",
  "properties: properties, patternProperties, additionalProperties interaction": "the pattern is not plain",
  "optional/bignum: float comparison with high precision": "`exclusiveMaximum` is a number in 2020-12",
  "optional/bignum: float comparison with high precision on negative numbers":
    "`exclusiveMinimum` is a number in 2020-12",
  "optional/format": "`format` asserts nothing in 2020-12 unless both sides agree",
};

const files = readdirSync(SUITE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length).replaceAll("\\", "/"))
  .sort();
const groupsOf = (file: string): Group[] => JSON.parse(readFileSync(join(SUITE, `${file}.json`), "utf8"));
const isLeftOut = (file: string, { description }: Group) => file in LEFT_OUT || `${file}: ${description}` in LEFT_OUT;

let judge: Judge;
beforeAll(async () => {
  judge = await openJudge();
});
afterAll(() => judge.close());

describe("the official suite of JSON Schema", () => {
  const groups = files.flatMap((file) => groupsOf(file).map((group) => ({ file, group })));

  it("is decided by the court as it says, but for what means something else by now", async () => {
    const asked = groups
      .filter(({ file, group }) => !isLeftOut(file, group))
      .flatMap(({ file, group: { description, schema, tests } }) =>
        tests.map((test) => ({
          name: `${file}: ${description}: ${test.description}`,
          schema: JSON.stringify(schema),
          json: JSON.stringify(test.data),
          verdict: test.valid ? "valid" : "invalid",
        })),
      );
    const verdicts = await judge.judgeMany(asked satisfies Case[]);
    expect(asked.map(({ name }, i) => `${name} is ${verdicts[i]}`)).toEqual(
      asked.map(({ name, verdict }) => `${name} is ${verdict}`),
    );
    expect(asked.length).toBeGreaterThan(180);
    for (const { name, schema, json, verdict } of asked) {
      const twin = judgeAnswer(JSON.parse(schema), JSON.parse(json));
      if (twin !== "unknown") expect(`${name} is ${twin}`).toBe(`${name} is ${verdict}`);
    }
  });

  it("has all that is left out, so that no reason outlives its case", () => {
    const names = new Set(groups.flatMap(({ file, group }) => [file, `${file}: ${group.description}`]));
    expect(Object.keys(LEFT_OUT).filter((name) => !names.has(name))).toEqual([]);
  });

  it("convicts nobody in what is left out and still means the same", async () => {
    const undecided = groups.filter(
      ({ file, group }) =>
        isLeftOut(file, group) && !/optional\/(format|zero)/.test(file) && file !== "additionalItems",
    );
    for (const { group } of undecided) {
      const json = group.tests.filter(({ valid }) => valid).map(({ data }) => JSON.stringify(data));
      const verdicts = await judge.judgeMany(
        json.map((text) => ({ schema: JSON.stringify(group.schema), json: text })),
      );
      expect(verdicts, group.description).not.toContain("invalid");
    }
  });
});

// `node --import tsx bench/court/officialSuite.ts <folder>` asks the contract that judges about every case of the official
// JSON Schema Test Suite: give it `tests/draft2020-12` of a checkout. npm has the suite for older drafts only, so it is not among
// what is installed. It ends with 1 if one case is decided against the suite.
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { judgeAnswer } from "../../marketplace/toolkit/index.ts";
import { readArguments, UsageError, withUsage } from "../../settlement/cli/readArguments.ts";
import type { Case } from "./cases/generateCases.ts";
import { openJudge } from "./openJudge.ts";

const USAGE = "Usage: node --import tsx bench/court/officialSuite.ts <tests/draft2020-12 of the official suite>";

type Group = { description: string; schema: unknown; tests: { description: string; data: unknown; valid: boolean }[] };
type NamedCase = Case & { file: string; name: string; verdict: "valid" | "invalid" };

// In 2020-12 `format` asserts nothing unless both sides agree, which these files do.
const AGREED = /^optional\/format(\/|-assertion)/;

// TypeScript's own library does not know it yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (source: string) => unknown };

await withUsage(USAGE, async () => {
  const { positionals } = readArguments({ allowPositionals: true, options: {} });
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw new UsageError("name one folder");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`there is no folder ${folder}`);
  const cases = casesIn(folder);
  if (cases.length === 0) throw new UsageError(`${folder} has no cases`);
  await judgeAll(cases);
});

async function judgeAll(cases: readonly NamedCase[]): Promise<void> {
  const judge = await openJudge();
  const verdicts = await judge.judgeMany(cases).finally(() => judge.close());
  const counts = { cases: cases.length, agree: 0, unknown: 0, wrong: 0, twinDiffers: 0 };
  const unknownByFile: Record<string, number> = {};
  for (const [i, { file, name, schema, json, verdict }] of cases.entries()) {
    const found = verdicts[i];
    if (found === verdict) counts.agree += 1;
    else if (found === "unknown") {
      counts.unknown += 1;
      unknownByFile[file] = (unknownByFile[file] ?? 0) + 1;
    } else {
      counts.wrong += 1;
      console.error(`${name}: ${found}, and the suite says ${verdict}`);
    }
    const twin = judgeAnswer(JSON.parse(schema), JSON.parse(json));
    if (twin === "unknown" || twin === found) continue;
    counts.twinDiffers += 1;
    console.error(`${name}: ${found}, and the toolkit says ${twin}`);
  }
  console.log(JSON.stringify({ ...counts, unknownByFile }, undefined, 2));
  if (counts.wrong + counts.twinDiffers > 0) process.exitCode = 1;
}

function casesIn(folder: string): NamedCase[] {
  const files = globSync("**/*.json", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
  return files
    .filter((file) => !AGREED.test(file))
    .sort()
    .flatMap((file) =>
      readGroups(join(folder, file)).flatMap(({ description, schema, tests }) =>
        tests.map((test) => ({
          file,
          name: `${file}: ${description}: ${test.description}`,
          schema: JSON.stringify(schema),
          json: JSON.stringify(test.data),
          verdict: test.valid ? ("valid" as const) : ("invalid" as const),
        })),
      ),
    );
}

// Numbers as they are written: some of them are there because doubles cannot tell them apart.
function readGroups(path: string): Group[] {
  const asWritten = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? rawJson(context.source) : value;
  return JSON.parse(readFileSync(path, "utf8"), asWritten as (name: string, value: unknown) => unknown);
}

// `npm run --silent mutate [-- --json] [--only WORDS] [--new] [--list] [--write] [--refresh]`: puts one bug at a time into a copy
// of the repository and shows that a test or the simulator notices it. With --new only those that the page does not have yet.
// Ends with 1 if one is not noticed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { signalPrograms } from "../../scripts/process/startProgram.ts";
import { readArguments, UsageError, withUsage } from "../../settlement/cli/readArguments.ts";
import { sentenceOf } from "../../settlement/domain/text/sentence.ts";
import { type Check, commandOf } from "./check.ts";
import { copyTree, type Tree } from "./copyTree.ts";
import { type Mutant, mutate } from "./mutate.ts";
import { cellOf, readPage, writePage } from "./page.ts";
import { type Code, readCode } from "./readCode.ts";
import { type Mutation, readMutations } from "./readMutations.ts";
import { refresh } from "./refresh.ts";
import { runCheck, type Verdict } from "./runCheck.ts";

type Result = { mutant: Mutant; verdict: Verdict; seconds: number };

const ROOT = join(import.meta.dirname, "../..");
const WORKERS = 2;
const USAGE = "Usage: npm run --silent mutate -- [--only WORDS] [--new] [--list] [--json] [--write] [--refresh]";

const options = {
  only: { type: "string", default: "" },
  new: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
  refresh: { type: "boolean", default: false },
} as const;
type Options = ReturnType<typeof readArguments<{ options: typeof options }>>["values"];

async function main(): Promise<void> {
  const { values } = readArguments({ options });
  const mutations = readMutations(ROOT);
  const code = readCode(ROOT);
  const { mutants, failures } = mutateAll(mutations, code);
  for (const failure of failures) say(sentenceOf(failure));
  if (failures.length > 0) process.exitCode = 1;
  if (values.refresh) {
    const count = refresh(ROOT, mutants, code);
    writePage(ROOT, mutations, new Map());
    say(`${count} of ${mutations.length} patches are written as the code is now`);
    return;
  }
  if (failures.length > 0) return;
  const known = values.new ? readPage(ROOT) : new Map<string, string>();
  const chosen = mutants.filter(
    ({ mutation, file }) => `${mutation.bug} ${file}`.includes(values.only) && !known.has(cellOf(mutation.bug)),
  );
  if (chosen.length === 0) {
    throw new UsageError(`no ${values.new ? "new " : ""}mutation has the words "${values.only}"`);
  }
  if (values.list) {
    for (const { mutation, file, caughtBy } of chosen) {
      console.log(`${mutation.bug}\n  ${mutation.path}\n  ${file}\n  ${commandOf(caughtBy)}`);
    }
    return;
  }
  await tryAll(chosen, values);
}

function mutateAll(mutations: readonly Mutation[], code: Code): { mutants: Mutant[]; failures: string[] } {
  const mutants: Mutant[] = [];
  const failures: string[] = [];
  for (const mutation of mutations) {
    try {
      mutants.push(mutate(mutation, code));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      failures.push(error.message);
    }
  }
  return { mutants, failures };
}

async function tryAll(chosen: readonly Mutant[], values: Options): Promise<void> {
  const startedAt = performance.now();
  const trees = Array.from({ length: WORKERS }, () => copyTree(ROOT));
  const clean = () => {
    signalPrograms("SIGTERM");
    for (const tree of trees) tree.remove();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => {
      clean();
      process.exit(1);
    });
  }
  try {
    // A red test is worth something only if it is green without the bug.
    const checks = [...new Map(chosen.map(({ caughtBy }) => [commandOf(caughtBy), caughtBy])).values()];
    let red = 0;
    say(`${checks.length} checks without any bug`);
    await inTrees(
      trees,
      checks,
      (check) => check,
      async (check, folder) => {
        const verdict = await runCheck(check, folder);
        if (verdict.kind === "green") return;
        red += 1;
        say(`  ✗ ${commandOf(check)}: ${describe(verdict)}`);
      },
    );
    if (red > 0) {
      say(`${red} of them fail without any bug: fix those first.`);
      process.exitCode = 1;
      return;
    }

    say(`${chosen.length} bugs, one at a time`);
    const results: Result[] = [];
    await inTrees(
      trees,
      chosen,
      ({ caughtBy }) => caughtBy,
      async (mutant, folder) => {
        const result = await tryOut(mutant, folder);
        results.push(result);
        say(`  ${sign(result)} ${mutant.mutation.bug} (${result.seconds} s): ${describe(result.verdict)}`);
      },
    );
    results.sort((a, b) => chosen.indexOf(a.mutant) - chosen.indexOf(b.mutant));
    report(results, values, Math.round((performance.now() - startedAt) / 1000));
  } finally {
    clean();
  }
}

async function tryOut(mutant: Mutant, folder: string): Promise<Result> {
  const startedAt = performance.now();
  const path = join(folder, mutant.file);
  writeFileSync(path, mutant.after);
  try {
    const verdict = await runCheck(mutant.caughtBy, folder);
    return { mutant, verdict, seconds: Math.round((performance.now() - startedAt) / 1000) };
  } finally {
    writeFileSync(path, mutant.before);
  }
}

// Two at a time, each in a tree of its own. What must be compiled stays with the first tree, which then has the rest of
// the build at hand, and comes first there.
async function inTrees<T>(
  trees: readonly Tree[],
  items: readonly T[],
  checkOf: (item: T) => Check,
  run: (item: T, folder: string) => Promise<void>,
): Promise<void> {
  const compiled = items.filter((item) => checkOf(item).kind === "mocha");
  const others = items.filter((item) => checkOf(item).kind !== "mocha");
  await Promise.all(
    trees.map(async ({ folder }, i) => {
      for (;;) {
        const item = (i === 0 ? compiled.shift() : undefined) ?? others.shift();
        if (item === undefined) return;
        await run(item, folder);
      }
    }),
  );
}

function report(results: readonly Result[], values: Options, seconds: number): void {
  const count = (kind: Verdict["kind"]) => results.filter(({ verdict }) => verdict.kind === kind).length;
  const stats = {
    mutations: results.length,
    caught: count("red"),
    survived: count("green"),
    broken: count("broken"),
    seconds,
  };
  if (values.json) {
    const bugs = results.map(({ mutant: { mutation, file, caughtBy }, verdict }) => ({
      bug: mutation.bug,
      patch: mutation.path,
      file,
      check: commandOf(caughtBy),
      ...verdict,
    }));
    console.log(JSON.stringify({ ...stats, bugs }));
  } else {
    for (const result of results) {
      const { mutation, file } = result.mutant;
      console.log(`${sign(result)} ${mutation.bug}\n    ${file}\n    ${describe(result.verdict)}`);
    }
    const { mutations: all, caught, survived, broken } = stats;
    console.log(`${all} mutations: ${caught} caught, ${survived} survived, ${broken} broken, in ${seconds} s`);
  }
  if (stats.caught < results.length) process.exitCode = 1;
  if (!values.write) return;
  const caught = results.flatMap(({ mutant, verdict }): [string, string][] =>
    verdict.kind === "red" ? [[mutant.mutation.bug, verdict.by]] : [],
  );
  writePage(ROOT, readMutations(ROOT), new Map(caught));
}

function sign({ verdict }: Result): string {
  return verdict.kind === "red" ? "✓" : "✗";
}

function describe(verdict: Verdict): string {
  switch (verdict.kind) {
    case "green":
      return "SURVIVED";
    case "red":
      return verdict.by;
    case "broken":
      return `broken: ${verdict.reason}`;
  }
}

// What is being done goes to standard error, so that standard output is the result alone.
function say(line: string): void {
  console.error(line);
}

await withUsage(USAGE, main);

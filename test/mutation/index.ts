// `npm run --silent mutate [-- --json] [--only WORDS] [--list] [--write]`: puts one bug at a time into a copy of the
// repository and shows that a test or the simulator notices it. Ends with 1 if one is not noticed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { copyTree, type Tree } from "./copyTree.ts";
import { applied, type Check, type Mutation, nameOf } from "./mutation.ts";
import { mutations } from "./mutations/index.ts";
import { writePage } from "./page.ts";
import { endAll, runCheck, type Verdict } from "./runCheck.ts";

type Result = { mutation: Mutation; verdict: Verdict; seconds: number };

const ROOT = join(import.meta.dirname, "../..");
const WORKERS = 2;
const USAGE = "Usage: npm run --silent mutate -- [--only WORDS] [--list] [--json] [--write]";

const { values } = options();
const chosen = mutations.filter(({ bug, file }) => `${bug} ${file}`.includes(values.only ?? ""));

async function main(): Promise<void> {
  const startedAt = performance.now();
  const trees = Array.from({ length: WORKERS }, () => copyTree(ROOT));
  const clean = () => {
    endAll();
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
    const checks = [...new Map(chosen.map(({ caughtBy }) => [nameOf(caughtBy), caughtBy])).values()];
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
        say(`  ✗ ${nameOf(check)}: ${describe(verdict)}`);
      },
    );
    if (red > 0) {
      say(`${red} of them fail without any bug: mend those first.`);
      process.exitCode = 1;
      return;
    }

    say(`${chosen.length} bugs, one at a time`);
    const results: Result[] = [];
    await inTrees(
      trees,
      chosen,
      ({ caughtBy }) => caughtBy,
      async (mutation, folder) => {
        const result = await tryOut(mutation, folder);
        results.push(result);
        say(`  ${sign(result)} ${mutation.bug} (${result.seconds} s): ${describe(result.verdict)}`);
      },
    );
    results.sort((a, b) => chosen.indexOf(a.mutation) - chosen.indexOf(b.mutation));
    report(results, Math.round((performance.now() - startedAt) / 1000));
  } finally {
    clean();
  }
}

async function tryOut(mutation: Mutation, folder: string): Promise<Result> {
  const startedAt = performance.now();
  const path = join(folder, mutation.file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, applied(mutation, original));
  try {
    const verdict = await runCheck(mutation.caughtBy, folder);
    return { mutation, verdict, seconds: Math.round((performance.now() - startedAt) / 1000) };
  } finally {
    writeFileSync(path, original);
  }
}

// Two at a time, each in a tree of its own. What has to be compiled stays with the first tree, which then has the rest of
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

function report(results: readonly Result[], seconds: number): void {
  const count = (kind: Verdict["kind"]) => results.filter(({ verdict }) => verdict.kind === kind).length;
  const figures = {
    mutations: results.length,
    caught: count("red"),
    survived: count("green"),
    broken: count("broken"),
    seconds,
  };
  if (values.json) {
    const bugs = results.map(({ mutation: { bug, file, caughtBy }, verdict }) => ({
      bug,
      file,
      check: nameOf(caughtBy),
      ...verdict,
    }));
    console.log(JSON.stringify({ ...figures, bugs }));
  } else {
    for (const result of results) {
      const { bug, file } = result.mutation;
      console.log(`${sign(result)} ${bug}\n    ${file}\n    ${describe(result.verdict)}`);
    }
    const { mutations: all, caught, survived, broken } = figures;
    console.log(`${all} mutations: ${caught} caught, ${survived} survived, ${broken} broken, in ${seconds} s`);
  }
  if (figures.caught < results.length) process.exitCode = 1;
  if (!values.write) return;
  const caught = results.flatMap(({ mutation: { bug }, verdict }): [string, string][] =>
    verdict.kind === "red" ? [[bug, verdict.by]] : [],
  );
  writePage(ROOT, mutations, new Map(caught));
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

function options() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        list: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message.split(". ")[0] : error}.\n${USAGE}`);
    process.exit(2);
  }
}

if (chosen.length === 0) {
  console.error(`No mutation has the words "${values.only}".\n${USAGE}`);
  process.exitCode = 2;
} else if (values.list) {
  for (const { bug, file, caughtBy } of chosen) console.log(`${bug}\n  ${file}\n  ${nameOf(caughtBy)}`);
} else {
  await main();
}

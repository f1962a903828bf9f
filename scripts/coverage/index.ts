// What `npm run coverage` does: runs the Solidity and the mocha tests on instrumented contracts and says how much of
// contracts/ they cover. Fails if a test fails, or if less than the threshold is covered.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RECORDS_FOLDER, type SourceRecord } from "./recordSource.ts";

const THRESHOLD_PERCENT = 98;

// What a build with instrumented contracts overwrites.
const BUILD_FOLDERS = ["artifacts", "cache", "typechain-types"];

type Count = { covered: number; all: number };
type FileCoverage = { lines: Count; statements: Count; branches: Count };

// Runs `action` and puts the build folders back as they were.
function keepingBuild<T>(action: () => T): T {
  const kept = mkdtempSync(join(tmpdir(), "build-"));
  for (const folder of BUILD_FOLDERS) if (existsSync(folder)) cpSync(folder, join(kept, folder), { recursive: true });
  // An interrupt reaches the tests as well; this process outlives them to clean up.
  process.on("SIGINT", () => {});
  try {
    return action();
  } finally {
    for (const folder of BUILD_FOLDERS) {
      rmSync(folder, { recursive: true, force: true });
      if (existsSync(join(kept, folder))) cpSync(join(kept, folder), folder, { recursive: true });
    }
    rmSync(kept, { recursive: true });
  }
}

function runTests(): boolean {
  rmSync("coverage", { recursive: true, force: true });
  const hardhat = join("node_modules", ".bin", "hardhat");
  return spawnSync(hardhat, ["test", "--coverage"], { stdio: "inherit" }).status === 0;
}

const jsonFilesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));

// Lines by file, from the lcov report, which has them as LF (found) and LH (hit).
function readLines(): Map<string, Count> {
  const sections = readFileSync(join("coverage", "lcov.info"), "utf8").split("end_of_record");
  const field = (section: string, name: string) => section.match(new RegExp(`^${name}:(.*)$`, "m"))?.[1] ?? "";
  return new Map(
    sections.map((section) => [
      field(section, "SF"),
      { covered: Number(field(section, "LH")), all: Number(field(section, "LF")) },
    ]),
  );
}

const percent = ({ covered, all }: Count) => (covered * 100) / all;

// Rounded down, so that only what is covered entirely reads 100.
const format = (count: Count) =>
  (count.all === 0 ? "none" : `${(Math.floor(percent(count) * 100) / 100).toFixed(2)} %`).padStart(11);

const sum = (counts: Count[]): Count => ({
  covered: counts.reduce((total, { covered }) => total + covered, 0),
  all: counts.reduce((total, { all }) => total + all, 0),
});

function report(): boolean {
  const hits = new Set<string>(jsonFilesIn(join("coverage", "data")).flatMap(Object.keys));
  const lines = readLines();
  const files = new Map<string, FileCoverage>();
  const missed: string[] = [];
  for (const { path, statements, conditions } of jsonFilesIn(RECORDS_FOLDER) as SourceRecord[]) {
    for (const { line, text, whenTrue, whenFalse } of conditions) {
      if (!hits.has(whenTrue)) missed.push(`${path}:${line} is never true: ${text}`);
      if (!hits.has(whenFalse)) missed.push(`${path}:${line} is never false: ${text}`);
    }
    const count = (tags: string[]) => ({ covered: tags.filter((tag) => hits.has(tag)).length, all: tags.length });
    files.set(path, {
      lines: lines.get(path) ?? { covered: 0, all: 0 },
      statements: count(statements),
      branches: count(conditions.flatMap(({ whenTrue, whenFalse }) => [whenTrue, whenFalse])),
    });
  }

  const all = [...files.values()];
  const total: FileCoverage = {
    lines: sum(all.map((file) => file.lines)),
    statements: sum(all.map((file) => file.statements)),
    branches: sum(all.map((file) => file.branches)),
  };
  console.log(`${"".padEnd(40)}      lines statements   branches`);
  for (const [path, file] of [...files, ["total", total] as const]) {
    console.log(path.padEnd(40) + format(file.lines) + format(file.statements) + format(file.branches));
  }
  if (missed.length > 0) console.log(`\nOutcomes of conditions that no test has seen:\n${missed.join("\n")}`);

  const short = Object.entries(total).filter(([, count]) => count.all === 0 || percent(count) < THRESHOLD_PERCENT);
  for (const [kind] of short) console.log(`\nLess than ${THRESHOLD_PERCENT} % of the ${kind} are covered.`);
  if (short.length === 0)
    console.log(`\nAt least ${THRESHOLD_PERCENT} % of lines, statements and branches are covered.`);
  return short.length === 0;
}

process.exitCode = keepingBuild(runTests) && report() ? 0 : 1;

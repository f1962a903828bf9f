// `npm run coverage`: runs the Solidity and the mocha tests with Hardhat's coverage, which shows every file, and fails if a
// test fails or a line of contracts/ was not run. Which of the lines a test would miss is what `npm run mutate` shows.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments, withUsage } from "../../settlement/cli/readArguments.ts";

// What a build with instrumented contracts overwrites.
const BUILD_FOLDERS = ["artifacts", "cache", "typechain-types"];

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

type FileCoverage = { path: string; lines: number; missed: string[] };

// The lcov report has a section per file, with a line `DA:<line>,<hits>` for each line that can run.
function readReport(): FileCoverage[] {
  const sections = readFileSync(join("coverage", "lcov.info"), "utf8").split("end_of_record");
  return sections.flatMap((section) => {
    const path = /^SF:(contracts\/.*)$/m.exec(section)?.[1];
    if (path === undefined) return [];
    const lines = [...section.matchAll(/^DA:(\d+),(\d+)$/gm)];
    return {
      path,
      lines: lines.length,
      missed: lines.flatMap(([, line, hits]) => (hits === "0" ? `${path}:${line}` : [])),
    };
  });
}

function everyLineRan(): boolean {
  const files = readReport();
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const missed = files.flatMap((file) => file.missed);
  for (const place of missed) console.log(`no test runs ${place}`);
  console.log(`${lines - missed.length} of ${lines} lines in ${files.length} files of contracts/ are covered.`);
  return lines > 0 && missed.length === 0;
}

// Whoever mistypes learns it before the tests have run.
await withUsage("Usage: npm run coverage", () => readArguments({ options: {} }));
process.exitCode = keepingBuild(runTests) && everyLineRan() ? 0 : 1;

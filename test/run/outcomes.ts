// How each kind of program says what it has found.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome, Start } from "./check.ts";
import type { Finished } from "./runProgram.ts";
import { OUTCOME_FILE } from "./vitestReporter.ts";

// A program that either holds or does not.
export const command =
  (file: string, ...args: string[]) =>
  async (start: Start): Promise<Outcome> => {
    const { code } = await start(file, ...args);
    return code === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [howItEnded(code)] };
  };

// Hardhat's runners of Solidity and TypeScript tests end with numbers and a list of what failed.
export const hardhatTests =
  (...args: string[]) =>
  async (start: Start): Promise<Outcome> => {
    const program = await start("hardhat", "test", ...args);
    const passed = Number(program.output.match(/^\s*(\d+) passing/m)?.[1] ?? 0);
    return complete(program, { passed, failures: failuresListedIn(program.output) });
  };

// The list is below the number of failures. An entry begins with "1) suite", goes on with the test's name on lines that are
// set in further than the error's, and names the file in the error's stack.
export function failuresListedIn(output: string): string[] {
  const [, list = ""] = output.split(/^\s*\d+ failing$/m);
  return list
    .split(/^ {2}\d+\) /m)
    .slice(1)
    .map((entry) => {
      const [heading = ""] = /^.*(\n {7,}.*)*/.exec(entry) ?? [];
      const [, file = null] = /\((test\/[^():]+)/.exec(entry) ?? [];
      const name = heading.replaceAll(/\s+/g, " ").replace(/:$/, "");
      return file === null ? name : `${file}: ${name}`;
    });
}

// The proofs: one line each, and a count.
export const proofs =
  (...args: string[]) =>
  async (start: Start): Promise<Outcome> => {
    const program = await start("node", ...args);
    const named = (mark: string) =>
      Array.from(program.output.matchAll(new RegExp(`^${mark} (.*) \\(.* s\\)$`, "gm")), ([, name = ""]) => name);
    return complete(program, { passed: named("✓").length, failures: named("✗") });
  };

// Vitest, whose reporter leaves a file.
export const vitest =
  (...args: string[]) =>
  async (start: Start): Promise<Outcome> => {
    const folder = mkdtempSync(join(tmpdir(), "service-tests-"));
    const file = join(folder, "outcome.json");
    process.env[OUTCOME_FILE] = file;
    try {
      const ended = await start(
        "vitest",
        "run",
        "--reporter=default",
        "--reporter=./test/run/vitestReporter.ts",
        ...args,
      );
      return complete(ended, existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { passed: 0, failures: [] });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

// A runner that breaks down before it counts, hangs, finds no test or fails beside its tests has failed.
function complete({ code, output }: Finished, outcome: Outcome): Outcome {
  const found = outcome.passed + outcome.failures.length;
  const unexplained = code !== 0 && outcome.failures.length === 0;
  if (code !== null && found > 0 && !unexplained) return outcome;
  const how = found === 0 ? `${howItEnded(code)}, without a test` : howItEnded(code);
  return { ...outcome, failures: [...outcome.failures, [how, ...firstErrorIn(output)].join(": ")] };
}

// Mocha loads every file before it runs the first test, so one that does not load takes all of them along. It is named in the
// error.
const firstErrorIn = (output: string): string[] => /^\w*Error\b.*$/m.exec(output)?.slice(0, 1) ?? [];

const howItEnded = (code: number | null) => (code === null ? "it was ended" : `it ended with ${code}`);

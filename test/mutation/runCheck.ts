import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startProgram } from "../../scripts/process/startProgram.ts";
import type { Check } from "./check.ts";

export type Verdict =
  | { kind: "green" }
  // `by` is the first test that failed, or what the simulator found.
  | { kind: "red"; by: string }
  // It did not come to its tests, or the bug is no program there, which says nothing about the tests.
  | { kind: "broken"; reason: string };

// What a bug causes that names something which is not there: it would be caught by any test, for no reason of its own.
const NO_PROGRAM = /ReferenceError: |SyntaxError: |\bis not a function\b|\bis not defined\b|\bno such column\b/;

// Many times what the longest check takes on a quiet machine.
const TIMEOUT_MS = 900_000;
const GRACE_MS = 5_000;
const SHOWN_LINES = 12;

export function runCheck(check: Check, folder: string): Promise<Verdict> {
  switch (check.kind) {
    case "vitest":
      return runVitest(check, folder);
    case "mocha":
      return runMocha(check.file, folder);
    case "simulator":
      return runSimulator(check, folder);
  }
}

type TestResult = { status: string; fullName: string; failureMessages?: string[] };
type Report = { testResults: { assertionResults: TestResult[]; message?: string }[] };

async function runVitest({ file, named }: Check & { kind: "vitest" }, folder: string): Promise<Verdict> {
  const reportFile = join(folder, "mutation-report.json");
  rmSync(reportFile, { force: true });
  const filter = named === null ? [] : ["-t", named];
  const args = ["run", file, ...filter, "--bail", "1", "--reporter", "json", "--outputFile", reportFile];
  const ended = await execute("vitest", args, folder);
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  } catch {
    return broken(ended);
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === "failed");
  if (failed !== undefined) return red(failed.fullName.trim(), failed.failureMessages?.join("\n") ?? "");
  if (ended.code === 0 && tests.some(({ status }) => status === "passed")) return { kind: "green" };
  const message = report.testResults.map((result) => result.message ?? "").join("\n");
  return broken({ ...ended, output: `${message}\n${ended.output}` });
}

async function runMocha(file: string, folder: string): Promise<Verdict> {
  const ended = await execute("hardhat", ["test", "mocha", file], folder);
  const failed = firstFailureIn(ended.output);
  if (failed !== null) return red(failed, ended.output);
  return ended.code === 0 && /^\s+\d+ passing/m.test(ended.output) ? { kind: "green" } : broken(ended);
}

// Below the number of failures Mocha lists them: "1) suite", then the test's name, which ends with a colon.
function firstFailureIn(output: string): string | null {
  const [, list] = output.split(/^\s+\d+ failing.*$/m);
  const [, name] = /^\s+1\) ([\s\S]+?):$/m.exec(list ?? "") ?? [];
  return name === undefined ? null : name.replaceAll(/\s+/g, " ");
}

async function runSimulator({ from, seeds }: Check & { kind: "simulator" }, folder: string): Promise<Verdict> {
  const args = ["test/simulator/index.ts", "--seed", `${from}`, "--seeds", `${seeds}`, "--bail"];
  const ended = await execute("node", args, folder);
  const [, seed, invariant] = /^seed (\d+): (.+)$/m.exec(ended.output) ?? [];
  if (ended.code === 1 && invariant !== undefined) return red(`seed ${seed}: ${withoutNames(invariant)}`, ended.output);
  return ended.code === 0 ? { kind: "green" } : broken(ended);
}

// The first invariant of those that were broken, without the ids that are of no use without their run.
function withoutNames(invariants: string): string {
  const [first = ""] = invariants.split("; ");
  return first.replaceAll(/0x[0-9a-f]{8,}/g, "…");
}

function red(by: string, message: string): Verdict {
  const noProgram = message.split("\n").find((line) => NO_PROGRAM.test(line));
  return noProgram === undefined ? { kind: "red", by } : { kind: "broken", reason: `${by}: ${noProgram.trim()}` };
}

type Ended = { code: number | null; output: string; late: boolean };

const broken = ({ code, output, late }: Ended): Verdict => ({
  kind: "broken",
  reason: late
    ? `no end after ${TIMEOUT_MS / 1000} s`
    : `it ended with ${code}:\n${output.trim().split("\n").slice(-SHOWN_LINES).join("\n")}`,
});

// Runs a program of the copy.
async function execute(file: string, args: readonly string[], folder: string): Promise<Ended> {
  const program = startProgram(join(folder, "node_modules", ".bin", file), args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
  });
  let late = false;
  const timeout = setTimeout(() => {
    late = true;
    void program.stop(GRACE_MS);
  }, TIMEOUT_MS);
  try {
    const { code } = await program.ended;
    return { code, output: program.output(), late };
  } catch (error) {
    return { code: null, output: String(error), late };
  } finally {
    clearTimeout(timeout);
  }
}

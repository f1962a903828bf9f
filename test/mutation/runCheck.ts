import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "./mutation.ts";

export type Verdict =
  | { kind: "green" }
  // `by` is the first test that failed, or what the simulator found.
  | { kind: "red"; by: string }
  // It did not come to its tests, which says nothing about them.
  | { kind: "broken"; reason: string };

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

type Report = { testResults: { assertionResults: { status: string; fullName: string }[]; message?: string }[] };

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
  if (failed !== undefined) return { kind: "red", by: failed.fullName.trim() };
  if (ended.code === 0 && tests.some(({ status }) => status === "passed")) return { kind: "green" };
  const message = report.testResults.map((result) => result.message ?? "").join("\n");
  return broken({ ...ended, output: `${message}\n${ended.output}` });
}

async function runMocha(file: string, folder: string): Promise<Verdict> {
  const ended = await execute("hardhat", ["test", "mocha", file], folder);
  const failed = firstFailureIn(ended.output);
  if (failed !== null) return { kind: "red", by: failed };
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
  const [, seed, law] = /^seed (\d+): (.+)$/m.exec(ended.output) ?? [];
  if (ended.code === 1 && law !== undefined) return { kind: "red", by: `seed ${seed}: ${withoutNames(law)}` };
  return ended.code === 0 ? { kind: "green" } : broken(ended);
}

// The first law of those that were broken, without the ids that are of no use without their run.
function withoutNames(laws: string): string {
  const [first = ""] = laws.split("; ");
  return first.replaceAll(/0x[0-9a-f]{8,}/g, "…");
}

type Ended = { code: number | null; output: string; late: boolean };

const broken = ({ code, output, late }: Ended): Verdict => ({
  kind: "broken",
  reason: late
    ? `no end after ${TIMEOUT_MS / 1000} s`
    : `it ended with ${code}:\n${output.trim().split("\n").slice(-SHOWN_LINES).join("\n")}`,
});

// Groups of processes that are running, to be ended with this one.
const running = new Set<number>();

export function endAll(): void {
  for (const pid of running) signal(pid, "SIGTERM");
}

// Runs a program of the copy, with everything that it starts in a group of its own.
function execute(file: string, args: readonly string[], folder: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(join(folder, "node_modules", ".bin", file), args, {
      cwd: folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
    });
    const pid = child.pid ?? 0;
    let output = "";
    let late = false;
    const stop = setTimeout(() => {
      late = true;
      signal(pid, "SIGTERM");
      setTimeout(() => signal(pid, "SIGKILL"), GRACE_MS).unref();
    }, TIMEOUT_MS);
    running.add(pid);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
      });
    }
    const end = (code: number | null) => {
      clearTimeout(stop);
      running.delete(pid);
      resolve({ code, output, late });
    };
    child.on("error", (error) => {
      output += error.message;
      end(null);
    });
    child.on("close", end);
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has ended already.
  }
}

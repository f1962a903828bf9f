// `npm run --silent sim -- --seeds N [--seed S] [--json] [--bail]`: runs N seeds from S on and prints what happened: how often each
// fault was injected, and in how many seeds each situation was reached. A seed that breaks a law is printed with everything
// that led to it, and belongs into corpus.json.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type Run, simulate } from "./simulate.ts";

type Part = { from: number; step: number; seeds: number; bail: boolean };
type Counts = Record<string, number>;
type Summary = Pick<Run, "ticks" | "faultsInjected" | "crashes" | "reorgs"> & {
  faults: Counts;
  reached: Counts;
  failed: Pick<Run, "seed" | "violations">[];
};

const MAX_WORKERS = 2;
const TRACE_LINES = 200;

// Set in a worker when another one has found what was looked for.
let stopped = false;

async function runPart({ from, step, seeds, bail }: Part): Promise<Summary> {
  const summary: Summary = { ticks: 0, faultsInjected: 0, crashes: 0, reorgs: 0, faults: {}, reached: {}, failed: [] };
  for (let seed = from; seed < from + seeds * step && !stopped; seed += step) {
    const run = await simulate(seed);
    summary.ticks += run.ticks;
    summary.faultsInjected += run.faultsInjected;
    summary.crashes += run.crashes;
    summary.reorgs += run.reorgs;
    addTo(summary.faults, run.faults);
    for (const situation of run.reached) addTo(summary.reached, { [situation]: 1 });
    if (run.violations.length === 0) continue;
    summary.failed.push({ seed, violations: run.violations });
    // Whoever only asks whether anything is wrong need not wait for the rest.
    if (bail) break;
  }
  return summary;
}

function addTo(counts: Counts, more: Readonly<Counts>): void {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + count;
}

// Most frequent first.
function sumOf(parts: readonly Counts[]): Counts {
  const sum: Counts = {};
  for (const counts of parts) addTo(sum, counts);
  return Object.fromEntries(Object.entries(sum).sort(([, a], [, b]) => b - a));
}

function runInWorkers(parts: readonly Part[]): Promise<Summary[]> {
  const workers = parts.map((part) => fork(import.meta.filename, ["--part", JSON.stringify(part)]));
  return Promise.all(
    workers.map(
      (worker, i) =>
        new Promise<Summary>((resolve, reject) => {
          worker.once("message", (message) => {
            const summary = message as Summary;
            resolve(summary);
            if (!parts[i]?.bail || summary.failed.length === 0) return;
            for (const other of workers) if (other.connected) other.send("stop");
          });
          worker.once("error", reject);
          worker.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
        }),
    ),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "100" },
      seed: { type: "string" },
      json: { type: "boolean", default: false },
      bail: { type: "boolean", default: false },
      part: { type: "string" },
    },
  });
  if (values.part !== undefined) {
    process.once("message", () => {
      stopped = true;
    });
    process.send?.(await runPart(JSON.parse(values.part) as Part), () => process.disconnect());
    return;
  }
  // A seed alone is run alone.
  const seeds =
    values.seed !== undefined && !process.argv.includes("--seeds") ? 1 : wholeNumber("--seeds", values.seeds);
  const from = wholeNumber("--seed", values.seed ?? "1");
  const startedAt = performance.now();
  const workers = Math.min(MAX_WORKERS, availableParallelism(), seeds);
  const parts = Array.from({ length: workers }, (_, i) => ({
    from: from + i,
    step: workers,
    seeds: Math.ceil((seeds - i) / workers),
    bail: values.bail,
  }));
  const summaries = await runInWorkers(parts);
  const seconds = (performance.now() - startedAt) / 1000;
  const sum = (key: "ticks" | "faultsInjected" | "crashes" | "reorgs") =>
    summaries.reduce((total, summary) => total + summary[key], 0);
  const failed = summaries.flatMap((summary) => summary.failed).sort((a, b) => a.seed - b.seed);
  const figures = {
    seeds,
    ticks: sum("ticks"),
    faultsInjected: sum("faultsInjected"),
    crashes: sum("crashes"),
    reorgs: sum("reorgs"),
    violations: failed.length,
    ticksPerSecond: Math.round(sum("ticks") / seconds),
  };
  const faults = sumOf(summaries.map((summary) => summary.faults));
  const reached = sumOf(summaries.map((summary) => summary.reached));
  if (values.json) console.log(JSON.stringify({ ...figures, faults, reached }));
  else for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${figure}`);
  if (failed.length === 0) return;

  process.exitCode = 1;
  for (const { seed, violations } of failed) console.error(`seed ${seed}: ${violations.join("; ")}`);
  const [first] = failed;
  if (first === undefined) return;
  const { trace } = await simulate(first.seed, { trace: true });
  console.error(`\nThe last of what happened with seed ${first.seed}:\n${trace.slice(-TRACE_LINES).join("\n")}`);
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} has to be a whole number above zero`);
  return value;
}

const USAGE = "Usage: npm run --silent sim -- [--seeds N] [--seed S] [--json] [--bail]";

try {
  await main();
} catch (error) {
  // What parseArgs and wholeNumber say of the command line is a sentence for whoever typed it.
  const mistyped = error instanceof RangeError || (error instanceof TypeError && "code" in error);
  if (!mistyped) throw error;
  console.error(`${error.message.split(". ")[0]}.\n${USAGE}`);
  process.exitCode = 2;
}

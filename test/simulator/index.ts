// `npm run --silent sim -- --seeds N [--seed S] [--json] [--bail]`: runs N seeds from S on and prints what happened: how
// often each fault was injected, and in how many seeds each situation was reached. A seed that breaks an invariant is printed
// with everything that led to it, and belongs into corpus.json. With --postgres, two daemons on a real PostgreSQL instead.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { readArguments, wholeNumber, withUsage } from "../../settlement/cli/readArguments.ts";
import { startPostgres } from "../../settlement/ledger/testing/startPostgres.ts";
import { THEFTS } from "./faults/thief.ts";
import { simulatePostgres } from "./postgres/simulatePostgres.ts";
import { type Run, simulate } from "./simulate.ts";

type Part = { from: number; step: number; seeds: number; bail: boolean };
type Counts = Record<string, number>;
type Summary = Pick<Run, "ticks" | "faultsInjected" | "crashes" | "reorgs" | "limitsHit" | "staleEndpoints"> & {
  faults: Counts;
  reached: Counts;
  failed: Pick<Run, "seed" | "violations">[];
};

const USAGE = "Usage: npm run --silent sim -- [--seeds N] [--seed S] [--json] [--bail] [--postgres]";
const DEFAULT_SEEDS = "100";
const MAX_WORKERS = 2;
const TRACE_LINES = 200;

// Set in a worker when another one has found what was looked for.
let stopped = false;

async function runPart({ from, step, seeds, bail }: Part): Promise<Summary> {
  const summary: Summary = {
    ticks: 0,
    faultsInjected: 0,
    crashes: 0,
    reorgs: 0,
    limitsHit: 0,
    staleEndpoints: 0,
    faults: {},
    reached: {},
    failed: [],
  };
  for (let seed = from; seed < from + seeds * step && !stopped; seed += step) {
    const run = await simulate(seed).catch((error: unknown) => error);
    // One that cannot be run to its end is as bad as one that breaks an invariant, and must be known by its number.
    if (!isRun(run)) {
      summary.failed.push({ seed, violations: [`it ended with ${run}`] });
      if (bail) break;
      continue;
    }
    summary.ticks += run.ticks;
    summary.faultsInjected += run.faultsInjected;
    summary.crashes += run.crashes;
    summary.reorgs += run.reorgs;
    summary.limitsHit += run.limitsHit;
    summary.staleEndpoints += run.staleEndpoints;
    addTo(summary.faults, run.faults);
    for (const situation of run.reached) addTo(summary.reached, { [situation]: 1 });
    if (run.violations.length === 0) continue;
    summary.failed.push({ seed, violations: run.violations });
    // Whoever only asks whether anything is wrong need not wait for the rest.
    if (bail) break;
  }
  return summary;
}

const isRun = (run: unknown): run is Run => run !== null && typeof run === "object" && "violations" in run;

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
            // One that has ended meanwhile cannot be told, and need not be.
            for (const other of workers) if (other.connected) other.send("stop", () => {});
          });
          worker.once("error", reject);
          worker.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
        }),
    ),
  );
}

async function main(): Promise<void> {
  const { values } = readArguments({
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      json: { type: "boolean", default: false },
      bail: { type: "boolean", default: false },
      postgres: { type: "boolean", default: false },
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
  const seeds = wholeNumber("--seeds", values.seeds ?? (values.seed === undefined ? DEFAULT_SEEDS : "1"));
  const from = wholeNumber("--seed", values.seed ?? "1");
  if (values.postgres) return runOnPostgres(from, seeds, values.json);
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
  const sum = (key: "ticks" | "faultsInjected" | "crashes" | "reorgs" | "limitsHit" | "staleEndpoints") =>
    summaries.reduce((total, summary) => total + summary[key], 0);
  const failed = summaries.flatMap((summary) => summary.failed).sort((a, b) => a.seed - b.seed);
  const faults = sumOf(summaries.map((summary) => summary.faults));
  const reached = sumOf(summaries.map((summary) => summary.reached));
  const stats = {
    seeds,
    ticks: sum("ticks"),
    faultsInjected: sum("faultsInjected"),
    crashes: sum("crashes"),
    reorgs: sum("reorgs"),
    restores: (faults["the ledger is restored from a copy"] ?? 0) + (faults["a failover loses the last commits"] ?? 0),
    takeovers: reached["a batch is taken over by another key"] ?? 0,
    limitsHit: sum("limitsHit"),
    staleEndpoints: sum("staleEndpoints"),
    thefts: THEFTS.reduce((total, theft) => total + (faults[theft] ?? 0), 0),
    violations: failed.length,
    ticksPerSecond: Math.round(sum("ticks") / seconds),
  };
  if (values.json) console.log(JSON.stringify({ ...stats, faults, reached }));
  else for (const [name, value] of Object.entries(stats)) console.log(`${name}: ${value}`);
  if (failed.length === 0) return;

  process.exitCode = 1;
  for (const { seed, violations } of failed) console.error(`seed ${seed}: ${violations.join("; ")}`);
  const [first] = failed;
  if (first === undefined) return;
  const lines: string[] = [];
  await simulate(first.seed, { trace: (line) => lines.push(line) }).catch(() => undefined);
  console.error(`\nThe last of what happened with seed ${first.seed}:\n${lines.slice(-TRACE_LINES).join("\n")}`);
}

// Two daemons on a real PostgreSQL, whose statements the seed puts in order.
async function runOnPostgres(from: number, seeds: number, json: boolean): Promise<void> {
  const server = await startPostgres({ fsync: false });
  const stats = { seeds, statements: 0, waits: 0, violations: 0 };
  const rarities: Counts = {};
  try {
    for (let seed = from; seed < from + seeds; seed++) {
      const { statements, waits, reached, violations, trace } = await simulatePostgres(server.url, seed);
      stats.statements += statements;
      stats.waits += waits;
      for (const rarity of reached) addTo(rarities, { [rarity]: 1 });
      if (violations.length === 0) continue;
      stats.violations += 1;
      process.exitCode = 1;
      console.error(`seed ${seed}: ${violations.join("; ")}`);
      if (stats.violations === 1) console.error(trace.slice(-TRACE_LINES).join("\n"));
    }
  } finally {
    await server.stop();
  }
  if (json) console.log(JSON.stringify({ ...stats, reached: sumOf([rarities]) }));
  else for (const [name, value] of Object.entries(stats)) console.log(`${name}: ${value}`);
}

await withUsage(USAGE, main);

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, keccak256, numberToHex } from "viem";
import { NO_HASH } from "../settlement/domain/charges/charge.ts";
import type { Turn } from "../settlement/domain/charges/turn.ts";
import { microUsdc } from "../settlement/domain/money.ts";
import type { ToolId } from "../settlement/domain/toolId.ts";
import { createLedger } from "../settlement/ledger/createLedger.ts";
import { openPostgres } from "../settlement/ledger/database/postgres/openPostgres.ts";
import { openSqlite } from "../settlement/ledger/database/sqlite/openSqlite.ts";
import type { Ledger } from "../settlement/ledger/ledger.ts";
import { startPostgres } from "../settlement/ledger/testing/startPostgres.ts";

const CALLERS = 64;
const CALLER_COUNTS = [1, 4, 16, 64, 256];
const BULK_CALLERS = 4;
const TURNS_AT_ONCE = 500;
const RUNS = 3;
// Addresses are hashes, so that whoever pays is somewhere else in every index.
const PAYERS = Array.from({ length: 1_000 }, (_, i) => keccak256(numberToHex(i)).slice(0, 42) as Address);
const TOOLS = 20;
const WARM_UP_MS = 500;
const MEASURED_MS = 1_500;
// Many points take their time together, so each is shorter.
const POINT: Load = { callers: CALLERS, turnsAtOnce: 1, warmUpMs: 300, measuredMs: 1_000 };

type Load = { callers: number; turnsAtOnce: number; warmUpMs: number; measuredMs: number };
const LOAD: Load = { callers: CALLERS, turnsAtOnce: 1, warmUpMs: WARM_UP_MS, measuredMs: MEASURED_MS };
// As the API reports many turns at once: the next ones are sent when all of them are on disk.
const BULK_LOAD: Load = { ...LOAD, callers: BULK_CALLERS, turnsAtOnce: TURNS_AT_ONCE };

// 64 callers, each of which reports a turn with one tool and waits until it is on disk before it reports the next. In turns with what
// it is compared with, so that a disturbance does not hit one side only; the median of several runs of each counts.
export async function accrue() {
  const runs: Record<"shared" | "single" | "bulk" | "postgres", Measured[]> = {
    shared: [],
    single: [],
    bulk: [],
    postgres: [],
  };
  for (let run = 0; run < RUNS; run++) {
    runs.shared.push(await onSqlite({ groupCommit: true }));
    runs.bulk.push(await onSqlite({ groupCommit: true }, BULK_LOAD));
    runs.single.push(await onSqlite({ groupCommit: false }));
    runs.postgres.push(await onPostgres());
  }
  const rateOf = (measured: readonly Measured[]) =>
    percentile(
      measured.map(({ perSecond }) => perSecond),
      0.5,
    );
  const [shared, single, bulk, postgres] = [runs.shared, runs.single, runs.bulk, runs.postgres].map(rateOf) as [
    number,
    number,
    number,
    number,
  ];
  const latenciesMs = runs.shared.flatMap((measured) => measured.latenciesMs);
  return {
    engineAccrualsPerSecond: Math.round(shared),
    oneCommitPerCallPerSecond: Math.round(single),
    ratio: round(shared / single),
    postgresAccrualsPerSecond: Math.round(postgres),
    ratioOfPostgres: round(postgres / shared),
    bulkTurnsPerSecond: Math.round(bulk),
    ratioOfBulk: round(bulk / shared),
    p50Ms: round(percentile(latenciesMs, 0.5)),
    p99Ms: round(percentile(latenciesMs, 0.99)),
  };
}

// How the rate grows with the number of callers who wait at the same time: the median of several runs of each. One caller
// alone waits for every commit, with or without sharing it.
export async function accrueByCallers() {
  const points = [];
  for (const callers of CALLER_COUNTS) {
    const load = { ...POINT, callers };
    const shared: number[] = [];
    const single: number[] = [];
    // In turns, so that a disturbance does not hit one side only.
    for (let run = 0; run < RUNS; run++) {
      shared.push((await onSqlite({ groupCommit: true }, load)).perSecond);
      single.push((await onSqlite({ groupCommit: false }, load)).perSecond);
    }
    points.push({
      callers,
      sharedPerSecond: Math.round(percentile(shared, 0.5)),
      oneCommitPerCallPerSecond: Math.round(percentile(single, 0.5)),
    });
  }
  return points;
}

async function onSqlite(options: { groupCommit: boolean }, load = LOAD): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "bench-accrue-"));
  try {
    // As in production: one thread checks, writes and commits.
    const ledger = await createLedger(openSqlite({ path: join(folder, "ledger.db") }), options);
    const measured = await measure(ledger, load);
    await ledger.close();
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<Measured> {
  const server = await startPostgres();
  try {
    const ledger = await createLedger(openPostgres({ url: `${server.url}/postgres` }));
    const measured = await measure(ledger, LOAD);
    await ledger.close();
    return measured;
  } finally {
    await server.stop();
  }
}

type Measured = { perSecond: number; latenciesMs: number[] };

async function measure(ledger: Ledger, { callers, turnsAtOnce, warmUpMs, measuredMs }: Load): Promise<Measured> {
  let next = 0;
  const latenciesMs: number[] = [];
  const startMs = performance.now() + warmUpMs;
  const endMs = startMs + measuredMs;

  async function caller(): Promise<void> {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      const from = next;
      next += turnsAtOnce;
      await report(
        ledger,
        Array.from({ length: turnsAtOnce }, (_, i) => from + i),
      );
      if (sentMs >= startMs) for (let i = 0; i < turnsAtOnce; i++) latenciesMs.push(performance.now() - sentMs);
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - startMs), latenciesMs };
}

async function report(ledger: Ledger, numbers: readonly number[]): Promise<void> {
  const outcomes = await ledger.recordTurns(
    numbers.map((n) => ({ turn: turnOf(n) })),
    Date.now(),
  );
  for (const { kind } of outcomes) if (kind !== "recorded") throw new Error(`a turn was answered with ${kind}`);
}

const turnOf = (n: number): Turn => ({
  id: `turn-${n}`,
  payer: PAYERS[n % PAYERS.length] as Address,
  outcome: "delivered",
  modelCost: microUsdc(20_000n),
  tools: [
    {
      toolId: `0x${((n % TOOLS) + 1).toString(16).padStart(32, "0")}` as ToolId,
      amount: microUsdc(80_000n),
      calls: 2,
    },
  ],
  requestHash: NO_HASH,
  responseHash: NO_HASH,
});

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

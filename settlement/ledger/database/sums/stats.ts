import { type MicroUsdc, microUsdc } from "../../../domain/money.ts";
import { amount, count, integer } from "../decode.ts";
import type { Row, Sql } from "../sql.ts";

// What happened: in a step of time, or since the beginning.
export type Stats = {
  accrued: MicroUsdc;
  settled: MicroUsdc;
  absorbed: MicroUsdc;
  refused: MicroUsdc;
  voided: MicroUsdc;
  accruedCharges: number;
  // Charges that were settled or absorbed, the gas of their batches, and their time from accrual to finality added up.
  settledCharges: number;
  gasUsed: bigint;
  // Milliseconds of all charges together outgrow what a number can count.
  latencyMs: bigint;
};

export const STATS_STEP_MS = 10_000;

const COLUMNS = {
  accrued: "accrued",
  settled: "settled",
  absorbed: "absorbed",
  refused: "refused",
  voided: "voided",
  accruedCharges: "accrued_charges",
  settledCharges: "settled_charges",
  gasUsed: "gas_used",
  latencyMs: "latency_ms",
} as const satisfies Record<keyof Stats, string>;

const NAMES = Object.keys(COLUMNS) as (keyof Stats)[];
const COLUMN_LIST = Object.values(COLUMNS).join(", ");

export const SUMS = Object.values(COLUMNS)
  .map((column) => `CAST(COALESCE(SUM(${column}), 0) AS BIGINT) AS ${column}`)
  .join(", ");

export const NO_STATS: Stats = {
  accrued: microUsdc(0n),
  settled: microUsdc(0n),
  absorbed: microUsdc(0n),
  refused: microUsdc(0n),
  voided: microUsdc(0n),
  accruedCharges: 0,
  settledCharges: 0,
  gasUsed: 0n,
  latencyMs: 0n,
};

export function statsFrom(row: Row): Stats {
  return {
    accrued: amount(row, "accrued"),
    settled: amount(row, "settled"),
    absorbed: amount(row, "absorbed"),
    refused: amount(row, "refused"),
    voided: amount(row, "voided"),
    accruedCharges: count(row, "accrued_charges"),
    settledCharges: count(row, "settled_charges"),
    gasUsed: integer(row, "gas_used"),
    latencyMs: integer(row, "latency_ms"),
  };
}

// What one transaction adds, gathered and written before its commit.
export type Tally = {
  add(atMs: number, by: Partial<Stats>): void;
  // A payer could not pay, so many times, for this reason.
  fail(reason: string, times: number): void;
  write(sql: Sql, shard: number): void;
};

type Sums = Partial<Record<keyof Stats, bigint>>;

export function createTally(): Tally {
  const total: Sums = {};
  const steps = new Map<number, Sums>();
  const failures = new Map<string, number>();
  return {
    fail(reason, times) {
      failures.set(reason, (failures.get(reason) ?? 0) + times);
    },
    add(atMs, by) {
      const at = atMs - (atMs % STATS_STEP_MS);
      const step: Sums = steps.get(at) ?? {};
      steps.set(at, step);
      for (const name of Object.keys(by) as (keyof Stats)[]) {
        const value = BigInt(by[name] ?? 0n);
        total[name] = (total[name] ?? 0n) + value;
        step[name] = (step[name] ?? 0n) + value;
      }
    },
    // Rows in one order for everybody, so that two writers of one shard never wait for each other in a circle.
    write(sql, shard) {
      for (const [at, sums] of [...steps].sort(([a], [b]) => a - b)) {
        upsert(sql, "stats", [at, shard], sums);
      }
      if (steps.size > 0) upsert(sql, "totals", [shard], total);
      for (const [reason, times] of [...failures].sort(([a], [b]) => (a < b ? -1 : 1))) {
        sql.send(
          `INSERT INTO failure_counts (reason, shard, failures) VALUES ($1, $2, $3)
           ON CONFLICT (reason, shard) DO UPDATE SET failures = failure_counts.failures + excluded.failures`,
          [reason, shard, times],
        );
      }
    },
  };
}

const KEYS = { stats: ["at", "shard"], totals: ["shard"] } as const;
type Table = keyof typeof KEYS;

const textOf = (table: Table) => {
  const keys = KEYS[table];
  const marks = [...keys, ...NAMES].map((_, i) => `$${i + 1}`).join(", ");
  const additions = Object.values(COLUMNS).map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `INSERT INTO ${table} (${keys.join(", ")}, ${COLUMN_LIST}) VALUES (${marks})
     ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${additions.join(", ")}`;
};
// Each group of calls says them.
const TEXTS: Readonly<Record<Table, string>> = { stats: textOf("stats"), totals: textOf("totals") };

function upsert({ send }: Sql, table: Table, key: readonly number[], sums: Sums): void {
  send(TEXTS[table], [...key, ...NAMES.map((name) => sums[name] ?? 0n)]);
}

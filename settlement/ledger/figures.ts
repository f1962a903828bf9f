import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import { amount, count, integer } from "./decode.ts";
import type { Row, Sql } from "./sql.ts";

// What happened: in a step of time, or since the beginning.
export type Figures = {
  accrued: MicroUsdc;
  settled: MicroUsdc;
  absorbed: MicroUsdc;
  refused: MicroUsdc;
  voided: MicroUsdc;
  accruedCharges: number;
  // Charges that were settled or absorbed, the gas of their batches, and their time from accrual to finality added up.
  // Those of batches whose gas is not known are left out of all three.
  settledCharges: number;
  gasUsed: bigint;
  latencyMs: number;
};

export const FIGURE_STEP_MS = 10_000;

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
} as const satisfies Record<keyof Figures, string>;

const NAMES = Object.keys(COLUMNS) as (keyof Figures)[];
const COLUMN_LIST = Object.values(COLUMNS).join(", ");

export const SUMS = Object.values(COLUMNS)
  .map((column) => `CAST(COALESCE(SUM(${column}), 0) AS BIGINT) AS ${column}`)
  .join(", ");

export const NO_FIGURES: Figures = {
  accrued: microUsdc(0n),
  settled: microUsdc(0n),
  absorbed: microUsdc(0n),
  refused: microUsdc(0n),
  voided: microUsdc(0n),
  accruedCharges: 0,
  settledCharges: 0,
  gasUsed: 0n,
  latencyMs: 0,
};

export function figuresFrom(row: Row): Figures {
  return {
    accrued: amount(row, "accrued"),
    settled: amount(row, "settled"),
    absorbed: amount(row, "absorbed"),
    refused: amount(row, "refused"),
    voided: amount(row, "voided"),
    accruedCharges: count(row, "accrued_charges"),
    settledCharges: count(row, "settled_charges"),
    gasUsed: integer(row, "gas_used"),
    latencyMs: count(row, "latency_ms"),
  };
}

// What one transaction adds, gathered and written before its commit.
export type Tally = {
  add(atMs: number, by: Partial<Figures>): void;
  write(sql: Sql, shard: number): Promise<void>;
};

type Sums = Map<keyof Figures, bigint>;

export function createTally(): Tally {
  const total: Sums = new Map();
  const steps = new Map<number, Sums>();
  return {
    add(atMs, by) {
      const at = atMs - (atMs % FIGURE_STEP_MS);
      const step: Sums = steps.get(at) ?? new Map();
      steps.set(at, step);
      for (const name of NAMES) {
        const value = by[name];
        if (value === undefined) continue;
        total.set(name, (total.get(name) ?? 0n) + BigInt(value));
        step.set(name, (step.get(name) ?? 0n) + BigInt(value));
      }
    },
    // Rows in one order for everybody, so that two writers of one shard never wait for each other in a circle.
    async write(sql, shard) {
      for (const [at, sums] of [...steps].sort(([a], [b]) => a - b)) {
        await upsert(sql, "figures", { at, shard }, sums);
      }
      if (steps.size > 0) await upsert(sql, "totals", { shard }, total);
    },
  };
}

async function upsert(sql: Sql, table: "figures" | "totals", key: Record<string, number>, sums: Sums): Promise<void> {
  const keys = Object.keys(key);
  const marks = [...keys, ...NAMES].map((_, i) => `$${i + 1}`).join(", ");
  const additions = Object.values(COLUMNS).map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  await sql.run(
    `INSERT INTO ${table} (${keys.join(", ")}, ${COLUMN_LIST}) VALUES (${marks})
     ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${additions.join(", ")}`,
    [...Object.values(key), ...NAMES.map((name) => sums.get(name) ?? 0n)],
  );
}

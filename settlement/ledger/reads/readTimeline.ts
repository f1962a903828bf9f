import { count } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { NO_STATS, STATS_STEP_MS, type Stats, SUMS, statsFrom } from "../database/sums/stats.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { invalid, validCount, validTime } from "../validate.ts";

// Times in milliseconds; steps are whole multiples of ten seconds.
export type TimelineQuery = { fromMs: number; toMs: number; stepMs: number };

const MAX_STEPS = 1_000;

// What happened in each step, empty ones included. Steps begin at whole multiples of their length. Goes back a month.
export function readTimeline({ fromMs, toMs, stepMs }: TimelineQuery) {
  if (validCount("the step", stepMs) === 0 || stepMs % STATS_STEP_MS !== 0) {
    invalid(`the step is ${stepMs}; it must be a multiple of ${STATS_STEP_MS} milliseconds`);
  }
  const length = validTime("the end", toMs) - validTime("the beginning", fromMs);
  if (length < 0 || length > MAX_STEPS * stepMs) invalid(`a time line has from 0 to ${MAX_STEPS} steps`);
  return async (sql: Reader): Promise<({ atMs: number } & Stats)[]> => {
    const start = fromMs - (fromMs % stepMs);
    const rows = await sql.all(
      `SELECT (at - CAST($1 AS BIGINT)) / CAST($2 AS BIGINT) AS step, ${SUMS} FROM stats
       WHERE at >= $1 AND at < $3 GROUP BY (at - CAST($1 AS BIGINT)) / CAST($2 AS BIGINT)`,
      [start, stepMs, toMs],
    );
    const steps = new Map(rows.map((row) => [count(row, "step"), statsFrom(row)]));
    return Array.from({ length: Math.ceil((toMs - start) / stepMs) }, (_, step) => ({
      atMs: start + step * stepMs,
      ...(steps.get(step) ?? NO_STATS),
    }));
  };
}

// Forgets at most `limit` steps of the time line that lie before this time, and returns how many there were. The sums in `totals`
// stay: only the time line gets shorter. What another daemon is forgetting is left to it.
export function forgetStats(beforeMs: number, limit: number) {
  validTime("the time", beforeMs);
  validCount("the limit", limit);
  return async (tx: Tx): Promise<number> => {
    return tx.run(
      `WITH old AS MATERIALIZED
         (SELECT at, shard FROM stats WHERE at < $1 ORDER BY at, shard LIMIT $2 ${tx.locks.skipLocked})
       DELETE FROM stats WHERE (at, shard) IN (SELECT at, shard FROM old)`,
      [beforeMs, limit],
    );
  };
}

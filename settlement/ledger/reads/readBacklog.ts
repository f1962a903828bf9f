import { count } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";

// How many charges are due, and how many have ever been taken out of what waits: into a batch, or because they were waived.
export type Backlog = { due: number; taken: number };

// From sums that are kept, so that it takes as long as there are accounts with something to pay.
export function readBacklog(nowMs: number) {
  return async (sql: Reader): Promise<Backlog> => {
    const [row = {}] = await sql.all(
      `SELECT CAST(COALESCE(SUM(CASE WHEN due_at <= $1 THEN charges ELSE 0 END), 0) AS BIGINT) AS due,
         CAST(COALESCE(SUM(charges), 0) AS BIGINT) AS waiting,
         (SELECT CAST(COALESCE(SUM(accrued_charges), 0) AS BIGINT) FROM totals) AS accrued
       FROM due_accounts WHERE due_at IS NOT NULL`,
      [nowMs],
    );
    return { due: count(row, "due"), taken: count(row, "accrued") - count(row, "waiting") };
  };
}

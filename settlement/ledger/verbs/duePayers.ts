import { address, amount, count } from "../decode.ts";
import type { DuePayer } from "../ledger.ts";
import type { Reader } from "../sql.ts";

export async function duePayers(sql: Reader, nowMs: number, limit: number): Promise<DuePayer[]> {
  const rows = await sql.all(
    `SELECT charged_to, CAST(SUM(amount) AS BIGINT) AS amount, COUNT(*) AS charges, MIN(due_at) AS oldest_due_at
     FROM charges
     WHERE state = 'accrued' AND due_at <= $1
     GROUP BY charged_to
     ORDER BY MIN(due_at), charged_to
     LIMIT $2`,
    [nowMs, limit],
  );
  return rows.map((row) => ({
    chargedTo: address(row, "charged_to"),
    amount: amount(row),
    charges: count(row, "charges"),
    oldestDueAtMs: count(row, "oldest_due_at"),
  }));
}

import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";

// Forgets at most `limit` sessions that ended before this time and never had a call, oldest first, and returns how many there were.
// Nothing refers to such a one: a call would have left its price there, whatever became of it.
export function forgetSessions(beforeMs: number, limit: number) {
  validTime("the time", beforeMs);
  validCount("the limit", limit);
  return async (tx: Tx): Promise<number> =>
    tx.run(
      `WITH unused AS MATERIALIZED
         (SELECT id FROM sessions WHERE method_price IS NULL AND status <> 'open' AND expires_at < $1
          ORDER BY expires_at LIMIT $2 ${tx.locks.skipLocked})
       DELETE FROM sessions WHERE id IN (SELECT id FROM unused)`,
      [beforeMs, limit],
    );
}

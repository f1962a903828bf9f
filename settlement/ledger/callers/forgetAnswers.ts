import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";

// Forgets at most `limit` answers to what was asked before this time, oldest first, and returns how many there were. Whoever asks
// again is judged again, and what was done under the key is known by the name that it has from it. What another daemon is forgetting is
// left to it.
export function forgetAnswers(beforeMs: number, limit: number) {
  validTime("the time", beforeMs);
  validCount("the limit", limit);
  return async (tx: Tx): Promise<number> =>
    tx.run(
      `WITH old AS MATERIALIZED
         (SELECT caller, key FROM answers WHERE asked_at < $1 ORDER BY asked_at LIMIT $2 ${tx.locks.skipLocked})
       DELETE FROM answers WHERE (caller, key) IN (SELECT caller, key FROM old)`,
      [beforeMs, limit],
    );
}

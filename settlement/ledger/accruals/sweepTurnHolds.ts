import { address } from "../database/decode.ts";
import { placeholders } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";
import { dropTurnHolds, turnHoldFrom } from "./turnHolds.ts";

// Gives back what is reserved for turns that nobody has reported or given up for `ttlMs`: whoever asked has died. Bounded by `limit`;
// payers that another daemon is busy with are left to it. Returns how many there were.
export function sweepTurnHolds(ttlMs: number, nowMs: number, limit: number) {
  validCount("the limit", limit);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<number> => {
    const old = await tx.all("SELECT payer FROM turn_holds WHERE held_at <= $1 ORDER BY held_at LIMIT $2", [
      nowMs - ttlMs,
      limit,
    ]);
    if (old.length === 0) return 0;
    const payers = [...new Set(old.map((row) => address(row, "payer")))];
    const locked = await tx.all(
      `SELECT payer FROM payers WHERE payer IN (${placeholders(payers.length)}) ORDER BY payer ${tx.locks.skipLocked}`,
      payers,
    );
    if (locked.length === 0) return 0;
    // Read once more under the lock: what was renewed or has ended meanwhile stays as it is.
    const free = locked.map((row) => address(row, "payer"));
    const rows = await tx.all(
      `SELECT * FROM turn_holds WHERE held_at <= $1 AND payer IN (${placeholders(free.length, 3)})
       ORDER BY held_at LIMIT $2`,
      [nowMs - ttlMs, limit, ...free],
    );
    dropTurnHolds(tx, rows.map(turnHoldFrom));
    return rows.length;
  };
}

import type { TurnHold } from "../../domain/charges/turn.ts";
import { address } from "../database/decode.ts";
import { placeholders } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";
import { dropTurnHolds, turnHoldFrom } from "./turnHolds.ts";

// Gives back what is reserved for turns that nobody has reported or given up for `ttlMs`: whoever asked has died. Bounded by `limit`;
// payers that another daemon is busy with are left to it. Returns how many there were. What is reserved from further ahead than that, by
// a clock that was wrong, is reserved from now on: else it would not be free before that clock's time has come.
export function sweepTurnHolds(ttlMs: number, nowMs: number, limit: number) {
  validCount("the limit", limit);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<number> => {
    const old = await lockHolds(tx, "held_at <= $1", nowMs - ttlMs, limit);
    const ahead = await lockHolds(tx, "held_at > $1", nowMs + ttlMs, limit);
    dropTurnHolds(tx, old);
    for (const { turnId } of ahead) tx.send("UPDATE turn_holds SET held_at = $2 WHERE turn_id = $1", [turnId, nowMs]);
    return old.length;
  };
}

// Those that are held since then, of payers that are locked.
async function lockHolds(tx: Tx, since: string, atMs: number, limit: number): Promise<TurnHold[]> {
  const held = await tx.all(`SELECT payer FROM turn_holds WHERE ${since} ORDER BY held_at LIMIT $2`, [atMs, limit]);
  if (held.length === 0) return [];
  const payers = [...new Set(held.map((row) => address(row, "payer")))];
  const locked = await tx.all(
    `SELECT payer FROM payers WHERE payer IN (${placeholders(payers.length)}) ORDER BY payer ${tx.locks.skipLocked}`,
    payers,
  );
  if (locked.length === 0) return [];
  // Read once more under the lock: what was renewed or has ended meanwhile stays as it is.
  const free = locked.map((row) => address(row, "payer"));
  const rows = await tx.all(
    `SELECT * FROM turn_holds WHERE ${since} AND payer IN (${placeholders(free.length, 3)})
     ORDER BY held_at LIMIT $2`,
    [atMs, limit, ...free],
  );
  return rows.map(turnHoldFrom);
}

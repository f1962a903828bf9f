import { count, text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { toStorable } from "../database/storable.ts";
import type { Tx } from "../database/tx.ts";
import { validTime } from "../validate.ts";

export type Halt = { reason: string; sinceMs: number };

// Why nothing may be submitted by anybody, kept until it is lifted. The first reason stays: what comes after it is usually its
// consequence. A halt is never refused for how its reason is written.
export function halt(reason: string, nowMs: number) {
  validTime("now", nowMs);
  return async (tx: Tx): Promise<void> => {
    await tx.run("INSERT INTO halts (id, reason, since_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING", [
      toStorable(reason),
      nowMs,
    ]);
  };
}

export function readHalt() {
  return async (sql: Reader): Promise<Halt | null> => {
    const [row] = await sql.all("SELECT reason, since_at FROM halts");
    return row === undefined ? null : { reason: text(row, "reason"), sinceMs: count(row, "since_at") };
  };
}

// Lifts the halt that somebody has looked at, and no other one that came meanwhile.
export function resume({ reason, sinceMs }: Halt) {
  return async (tx: Tx): Promise<void> => {
    await tx.run("DELETE FROM halts WHERE reason = $1 AND since_at = $2", [reason, sinceMs]);
  };
}

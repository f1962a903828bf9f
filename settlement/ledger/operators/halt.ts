import { SettlementError } from "../../domain/errors.ts";
import { count, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import { toStorable } from "../database/storable.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";

export type Halt = { reason: string; sinceMs: number };

// Why nothing may be submitted by anybody, kept until it is lifted. The first reason stays: what comes after it is usually its
// consequence. A halt is never refused for how its reason is written, but it is for its age: whoever began to look before a
// person lifted the last halt, which was `lifted` times before, has seen what that person has put right, and looks again.
export function halt(reason: string, nowMs: number, lifted: number) {
  validTime("now", nowMs);
  validCount("how often a halt was lifted", lifted);
  return async (tx: Tx): Promise<void> => {
    const [row] = await tx.all(
      `INSERT INTO halts (id, reason, since_at, lifted) VALUES (1, $1, $2, 0)
       ON CONFLICT (id) DO UPDATE SET reason = COALESCE(halts.reason, CASE WHEN halts.lifted = $3 THEN excluded.reason END),
         since_at = CASE WHEN halts.reason IS NULL THEN excluded.since_at ELSE halts.since_at END
       RETURNING reason`,
      [toStorable(reason), nowMs, lifted],
    );
    if (row?.reason !== null) return;
    throw new SettlementError(
      "fenced",
      "a halt was lifted meanwhile; nothing was changed, and the next tick looks again",
    );
  };
}

export function readHalt() {
  return async (sql: Reader): Promise<Halt | null> => {
    const [row] = await sql.all("SELECT reason, since_at FROM halts");
    return haltOf(row);
  };
}

// For whoever begins to look at what may be a reason to halt.
export function beginToLook() {
  return async (sql: Reader): Promise<{ halt: Halt | null; lifted: number }> => {
    const [row] = await sql.all("SELECT reason, since_at, lifted FROM halts");
    return { halt: haltOf(row), lifted: row === undefined ? 0 : count(row, "lifted") };
  };
}

// Lifts the halt that somebody has looked at, and no other one that came meanwhile.
export function resume({ reason, sinceMs }: Halt) {
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE halts SET reason = NULL, lifted = lifted + 1 WHERE reason = $1 AND since_at = $2", [
      reason,
      sinceMs,
    ]);
  };
}

function haltOf(row: Row | undefined): Halt | null {
  return row === undefined || row.reason === null
    ? null
    : { reason: text(row, "reason"), sinceMs: count(row, "since_at") };
}

import { text } from "../../database/decode.ts";
import { CHUNK, chunksOf, type Param, placeholders } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";

// A charge that waits in its session belongs to who has locked the session. So sessions come before the charges that are to be
// taken: of those in which some of `charges` wait, the ones that nobody else is busy with, within a bound. Null where one
// writer has everything locked.
export async function lockSessionsOf(tx: Tx, charges: string, params: readonly Param[]): Promise<string[] | null> {
  if (tx.locks.forUpdate === "") return null;
  const rows = await tx.all(
    `SELECT id FROM sessions WHERE id IN (SELECT session_id FROM ${charges} AS wanted WHERE waiting = 1)
     ORDER BY id LIMIT ${CHUNK} ${tx.locks.skipLocked}`,
    params,
  );
  return rows.map((row) => text(row, "id"));
}

// The charges that then may be taken. The others stay until their sessions are flushed.
export function mayBeTaken(locked: readonly string[] | null, from: number): string {
  if (locked === null) return "";
  const inLocked = locked.length === 0 ? "" : `OR session_id IN (${placeholders(locked.length, from)})`;
  return `AND (waiting = 0 ${inLocked})`;
}

// A session's charge that got too old before its session was flushed no longer waits, and its session no longer counts it.
export async function stopWaiting(tx: Tx, waiting: readonly { id: string; sessionId: string }[]): Promise<void> {
  for (const [sessionId, charges] of Map.groupBy(waiting, (charge) => charge.sessionId)) {
    for (const chunk of chunksOf(charges)) {
      await tx.run(
        `UPDATE charges SET waiting = 0
         WHERE waiting = 1 AND session_id = $1 AND id IN (${placeholders(chunk.length, 2)})`,
        [sessionId, ...chunk.map(({ id }) => id)],
      );
    }
    await tx.run(
      `UPDATE sessions SET
         waiting_count = (SELECT COUNT(*) FROM charges WHERE session_id = $1 AND waiting = 1),
         waiting_amount = (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM charges WHERE session_id = $1 AND waiting = 1),
         waiting_since = (SELECT MIN(accrued_at) FROM charges WHERE session_id = $1 AND waiting = 1)
       WHERE id = $1`,
      [sessionId],
    );
  }
}

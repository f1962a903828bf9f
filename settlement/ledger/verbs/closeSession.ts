import { sessionFrom } from "../decode.ts";
import type { Sessions } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { flushSessions } from "./flushSessions.ts";
import { findSession } from "./openSession.ts";

// A session that has expired stays expired; that its close was asked for is noted all the same.
export async function closeSession(tx: Tx, id: string, nowMs: number): ReturnType<Sessions["closeSession"]> {
  const [row] = await tx.all(
    `UPDATE sessions SET close_requested = 1, status = CASE WHEN status = 'open' THEN 'closed' ELSE status END
     WHERE id = $1 AND close_requested = 0
     RETURNING *`,
    [id],
  );
  if (row === undefined) {
    const session = await findSession(tx, id);
    return session === null ? { kind: "session_not_found" } : { kind: "duplicate", session };
  }
  const closed = sessionFrom(row);
  if (closed.pendingAccruedCount === 0) return { kind: "closed", session: closed };
  const [flushed] = await flushSessions(tx, [id], nowMs);
  return { kind: "closed", session: flushed ?? closed };
}

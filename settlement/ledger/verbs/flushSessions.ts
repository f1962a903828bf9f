import type { Session } from "../../domain/session.ts";
import { sessionFrom } from "../decode.ts";
import { placeholders } from "../sql.ts";
import type { Tx } from "../tx.ts";

// Hands to settlement what these sessions have captured.
export async function flushSessions(tx: Tx, ids: readonly string[], nowMs: number): Promise<Session[]> {
  if (ids.length === 0) return [];
  await tx.run(
    `UPDATE charges SET waiting = 0, due_at = $1 WHERE waiting = 1 AND session_id IN (${placeholders(ids.length, 2)})`,
    [nowMs, ...ids],
  );
  const rows = await tx.all(
    `UPDATE sessions SET waiting_count = 0, waiting_amount = 0, waiting_since = NULL
     WHERE id IN (${placeholders(ids.length)})
     RETURNING *`,
    ids,
  );
  return rows.map(sessionFrom);
}

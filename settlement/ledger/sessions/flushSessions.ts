import type { Session } from "../../domain/charges/session.ts";
import { address } from "../database/decode.ts";
import { placeholders } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { sessionFrom } from "./decode.ts";

// Hands to settlement what these sessions have captured.
export async function flushSessions(tx: Tx, ids: readonly string[], nowMs: number): Promise<Session[]> {
  if (ids.length === 0) return [];
  const flushed = await tx.all(
    `UPDATE charges SET waiting = 0, due_at = $1 WHERE waiting = 1 AND session_id IN (${placeholders(ids.length, 2)})
     RETURNING charged_to`,
    [nowMs, ...ids],
  );
  for (const row of flushed) tx.due.move(address(row, "charged_to"));
  const rows = await tx.all(
    `UPDATE sessions SET waiting_count = 0, waiting_amount = 0, waiting_since = NULL
     WHERE id IN (${placeholders(ids.length)})
     RETURNING *`,
    ids,
  );
  return rows.map(sessionFrom);
}

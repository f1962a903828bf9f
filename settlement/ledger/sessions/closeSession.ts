import type { Session } from "../../domain/charges/session.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName, validTime } from "../validate.ts";
import { sessionFrom } from "./decode.ts";
import { hasExpiredAt, isOpenAt } from "./expiry.ts";
import { sessionOf } from "./findSession.ts";
import { flushSessions } from "./flushSessions.ts";

export type CloseOutcome = { kind: "closed" | "duplicate"; session: Session } | { kind: "session_not_found" };

// No further holds; what was captured is flushed at once. Running calls may still be captured or voided. A session that has
// expired stays expired; that its close was asked for is noted all the same.
export function closeSession(id: string, nowMs: number) {
  validName("the session's id", id);
  validTime("now", nowMs);
  return touching({ lock: "sessions", sessions: [id] }, async (tx: Tx): Promise<CloseOutcome> => {
    const [row] = await tx.all(
      `UPDATE sessions SET close_requested = 1, status = CASE
         WHEN ${isOpenAt("$2")} THEN 'closed'
         WHEN ${hasExpiredAt("$2")} THEN 'expired'
         ELSE status END
       WHERE id = $1 AND close_requested = 0
       RETURNING *`,
      [id, nowMs],
    );
    if (row === undefined) {
      const session = await sessionOf(tx, id);
      return session === null ? { kind: "session_not_found" } : { kind: "duplicate", session };
    }
    const closed = sessionFrom(row);
    if (closed.pendingAccruedCount === 0) return { kind: "closed", session: closed };
    const [flushed] = await flushSessions(tx, [id], nowMs);
    return { kind: "closed", session: flushed ?? closed };
  });
}

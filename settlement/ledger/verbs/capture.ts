import type { Capture, Hold, Session } from "../../domain/session.ts";
import { chargeIdOfCall, holdFrom, sessionFrom } from "../decode.ts";
import type { CaptureOutcome, FlushPolicy } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { flushSessions } from "./flushSessions.ts";
import { findHold } from "./hold.ts";
import { insertCharges } from "./insertCharges.ts";
import { findSession } from "./openSession.ts";

export async function capture(
  tx: Tx,
  { callId, hashes }: Capture,
  policy: FlushPolicy,
  nowMs: number,
): Promise<CaptureOutcome> {
  const [captured] = await tx.all(
    "UPDATE holds SET state = 'captured', captured_at = $2 WHERE call_id = $1 AND state = 'held' RETURNING *",
    [callId, nowMs],
  );
  if (captured === undefined) return whyNot(tx, callId);

  const hold = holdFrom(captured);
  const { sessionId, payer, toolId, amount } = hold;
  const chargeId = chargeIdOfCall(hold);
  // A free call makes no charge, and so there is nothing to wait for.
  const waiting = amount > 0n;
  const session = await spend(tx, hold, waiting, nowMs);
  tx.change(payer, { held: -amount });
  if (waiting) {
    await insertCharges(tx, [
      {
        source: { sessionId, callId },
        payer,
        hashes,
        accruedAtMs: nowMs,
        dueAtMs: nowMs + policy.maxAgeMs,
        waiting,
        charges: [{ id: chargeId, toolId, calls: 1, amount, state: "accrued" }],
      },
    ]);
  }
  if (!shouldFlush(session, policy)) return { kind: "captured", hold, session, chargeId };
  const [flushed] = await flushSessions(tx, [sessionId], nowMs);
  return { kind: "captured", hold, session: flushed ?? session, chargeId };
}

async function spend(tx: Tx, { sessionId, amount }: Hold, waiting: boolean, nowMs: number): Promise<Session> {
  const [row] = await tx.all(
    `UPDATE sessions SET held = held - $2, spent = spent + $2, waiting_count = waiting_count + $3,
       waiting_amount = waiting_amount + $2, waiting_since = CASE WHEN $3 = 0 THEN waiting_since
         ELSE COALESCE(waiting_since, $4) END
     WHERE id = $1
     RETURNING *`,
    [sessionId, amount, waiting ? 1 : 0, nowMs],
  );
  return sessionFrom(row ?? {});
}

// Nothing waits in a session that has ended.
function shouldFlush(session: Session, { maxCount, maxAmount }: FlushPolicy): boolean {
  const { status, pendingAccruedCount, pendingAccrued } = session;
  if (pendingAccruedCount === 0) return false;
  return status !== "open" || pendingAccruedCount >= maxCount || pendingAccrued >= maxAmount;
}

async function whyNot(tx: Tx, callId: string): Promise<CaptureOutcome> {
  const hold = await findHold(tx, callId);
  if (hold === null) return { kind: "hold_not_found" };
  const session = await findSession(tx, hold.sessionId);
  if (session === null) return { kind: "hold_not_found" };
  return hold.state.kind === "captured"
    ? { kind: "duplicate", hold, session, chargeId: hold.state.chargeId }
    : { kind: "voided", hold, session };
}

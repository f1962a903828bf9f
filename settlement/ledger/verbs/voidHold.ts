import type { Hold, Session } from "../../domain/session.ts";
import { holdFrom, sessionFrom } from "../decode.ts";
import type { VoidOutcome } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { findHold } from "./hold.ts";
import { findSession } from "./openSession.ts";

export async function voidHold(tx: Tx, callId: string): Promise<VoidOutcome> {
  const [voided] = await tx.all("UPDATE holds SET state = 'voided' WHERE call_id = $1 AND state = 'held' RETURNING *", [
    callId,
  ]);
  if (voided !== undefined) {
    const hold = holdFrom(voided);
    return { kind: "voided", hold, session: await giveBack(tx, hold) };
  }
  const hold = await findHold(tx, callId);
  if (hold === null) return { kind: "hold_not_found" };
  const session = await findSession(tx, hold.sessionId);
  if (session === null) return { kind: "hold_not_found" };
  return { kind: hold.state.kind === "captured" ? "captured" : "duplicate", hold, session };
}

async function giveBack(tx: Tx, { sessionId, payer, amount }: Hold): Promise<Session> {
  tx.change(payer, { held: -amount });
  const [row] = await tx.all("UPDATE sessions SET held = held - $2 WHERE id = $1 RETURNING *", [sessionId, amount]);
  return sessionFrom(row ?? {});
}

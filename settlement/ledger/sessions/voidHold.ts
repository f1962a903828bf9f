import type { Hold, Session } from "../../domain/charges/session.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName } from "../validate.ts";
import { holdFrom, sessionFrom } from "./decode.ts";
import { holdOf } from "./findHold.ts";
import { sessionOf } from "./findSession.ts";

export type VoidOutcome =
  | { kind: "voided" | "duplicate"; hold: Hold; session: Session }
  | { kind: "captured"; hold: Hold; session: Session }
  | { kind: "hold_not_found" };

// The call failed: what was reserved for it is free again.
export function voidHold(callId: string) {
  validName("the call's id", callId);
  return touching({ lock: "sessions", calls: [callId] }, (tx): Promise<VoidOutcome> => giveUp(tx, callId));
}

export async function giveUp(tx: Tx, callId: string): Promise<VoidOutcome> {
  const [voided] = await tx.all("UPDATE holds SET state = 'voided' WHERE call_id = $1 AND state = 'held' RETURNING *", [
    callId,
  ]);
  if (voided !== undefined) {
    const hold = holdFrom(voided);
    return { kind: "voided", hold, session: await giveBack(tx, hold) };
  }
  const hold = await holdOf(tx, callId);
  if (hold === null) return { kind: "hold_not_found" };
  const session = await sessionOf(tx, hold.sessionId);
  if (session === null) return { kind: "hold_not_found" };
  return { kind: hold.state.kind === "captured" ? "captured" : "duplicate", hold, session };
}

async function giveBack(tx: Tx, { sessionId, payer, budgetId, amount }: Hold): Promise<Session> {
  tx.change(payer, { held: -amount }, budgetId);
  const [row] = await tx.all("UPDATE sessions SET held = held - $2 WHERE id = $1 RETURNING *", [sessionId, amount]);
  return sessionFrom(row ?? {});
}

import type { MicroUsdc } from "../../domain/money.ts";
import type { Hold, Session } from "../../domain/session.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { holdFrom, sessionFrom } from "../decode.ts";
import type { HoldOutcome } from "../ledger.ts";
import type { Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { findSession } from "./openSession.ts";

type Call = { callId: string; sessionId: string; toolId: ToolId; method: string; amount: MicroUsdc };

// The condition and the reservation are one statement, so that no two calls can both take the last cent.
export async function hold(tx: Tx, call: Call, nowMs: number): Promise<HoldOutcome> {
  const { callId, sessionId, toolId, method, amount } = call;
  const [reserved] = await tx.all(
    `UPDATE sessions SET held = held + $2, method_price = $2
     WHERE id = $1 AND status = 'open' AND expires_at > $3 AND spent + held + $2 <= max_spend
       AND NOT EXISTS (SELECT 1 FROM holds WHERE call_id = $4)
     RETURNING *`,
    [sessionId, amount, nowMs, callId],
  );
  if (reserved === undefined) return whyNot(tx, call, nowMs);

  const session = sessionFrom(reserved);
  const [held] = await tx.all(
    `INSERT INTO holds (call_id, session_id, payer, tool_id, method, amount, held_at, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'held')
     ON CONFLICT (call_id) DO NOTHING
     RETURNING *`,
    [callId, sessionId, session.payer, toolId, method, amount, nowMs],
  );
  // Another daemon held the same call between the two statements.
  if (held === undefined) {
    await tx.run("UPDATE sessions SET held = held - $2 WHERE id = $1", [sessionId, amount]);
    return whyNot(tx, call, nowMs);
  }
  tx.change(session.payer, { held: amount });
  return { kind: "held", hold: holdFrom(held), session };
}

// A call that was held before is a duplicate whatever became of its session since.
async function whyNot(tx: Tx, call: Call, nowMs: number): Promise<HoldOutcome> {
  const known = await findHold(tx, call.callId);
  if (known !== null) {
    const session = await findSession(tx, known.sessionId);
    return isSame(known, call) && session !== null ? { kind: "duplicate", hold: known, session } : { kind: "conflict" };
  }
  const session = await findSession(tx, call.sessionId);
  if (session === null) return { kind: "session_not_found" };
  if (session.status === "closed") return { kind: "session_closed", session };
  if (session.status === "expired" || session.expiresAtMs <= nowMs) {
    return { kind: "session_expired", session: { ...session, status: "expired" } satisfies Session };
  }
  return { kind: "session_budget_exceeded", session };
}

export async function findHold(sql: Reader, callId: string): Promise<Hold | null> {
  const [row] = await sql.all("SELECT * FROM holds WHERE call_id = $1", [callId]);
  return row === undefined ? null : holdFrom(row);
}

function isSame(hold: Hold, { sessionId, toolId, method, amount }: Call): boolean {
  return hold.sessionId === sessionId && hold.toolId === toolId && hold.method === method && hold.amount === amount;
}

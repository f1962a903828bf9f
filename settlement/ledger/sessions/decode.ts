import { chargeIdOfCall } from "../../domain/charges/charge.ts";
import type { Hold, Session, SessionStatus } from "../../domain/charges/session.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, budgetId, count, text } from "../database/decode.ts";
import type { Row } from "../database/sql.ts";

// Where a statement knows other columns than those of the session.
export const SESSION_COLUMNS = `id, payer, budget_id, max_spend, spent, held, status, close_requested, opened_at, expires_at, method_price,
  waiting_count, waiting_amount`;

export function sessionFrom(row: Row): Session {
  return {
    id: text(row, "id"),
    payer: address(row, "payer"),
    budgetId: budgetId(row),
    maxSpend: amount(row, "max_spend"),
    spent: amount(row, "spent"),
    held: amount(row, "held"),
    status: text(row, "status") as SessionStatus,
    closeRequested: row.close_requested === 1n,
    openedAtMs: count(row, "opened_at"),
    expiresAtMs: count(row, "expires_at"),
    methodPrice: row.method_price === null ? null : amount(row, "method_price"),
    pendingAccruedCount: count(row, "waiting_count"),
    pendingAccrued: amount(row, "waiting_amount"),
  };
}

export function holdFrom(row: Row): Hold {
  const hold = {
    callId: text(row, "call_id"),
    sessionId: text(row, "session_id"),
    payer: address(row, "payer"),
    budgetId: budgetId(row),
    toolId: text(row, "tool_id") as ToolId,
    method: text(row, "method"),
    amount: amount(row),
    heldAtMs: count(row, "held_at"),
  };
  const state = text(row, "state") as Hold["state"]["kind"];
  return { ...hold, state: state === "captured" ? { kind: state, chargeId: chargeIdOfCall(hold) } : { kind: state } };
}

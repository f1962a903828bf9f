import type { Session } from "../../domain/charges/session.ts";
import type { Conflict } from "../conflict.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validAmount, validName, validTime } from "../validate.ts";
import { sessionFrom } from "./decode.ts";
import { sessionOf } from "./findSession.ts";

export type NewSession = Pick<Session, "id" | "payer" | "maxSpend" | "expiresAtMs"> & { budgetId?: bigint | null };
export type OpenOutcome = { kind: "opened" | "duplicate"; session: Session } | Conflict;

// The same id again is a duplicate if payer, limit and budget are the same. The end of the session does not count: whoever
// repeats a request reckons it from a later moment.
export function openSession(session: NewSession, nowMs: number) {
  const id = validName("the session's id", session.id);
  const payer = validAddress("the payer", session.payer);
  const maxSpend = validAmount("the budget", session.maxSpend);
  const budgetId = session.budgetId ?? null;
  const expiresAtMs = validTime("the end of the session", session.expiresAtMs);
  validTime("now", nowMs);
  return touching({ lock: "new sessions", name: id, payers: [payer] }, async (tx: Tx): Promise<OpenOutcome> => {
    const [opened] = await tx.all(
      `INSERT INTO sessions (id, payer, budget_id, max_spend, spent, held, status, close_requested, opened_at, expires_at,
         method_price, waiting_count, waiting_amount, waiting_since)
       VALUES ($1, $2, $3, $4, 0, 0, 'open', 0, $5, $6, NULL, 0, 0, NULL)
       ON CONFLICT (id) DO NOTHING
       RETURNING *`,
      [id, payer, budgetId?.toString() ?? null, maxSpend, nowMs, expiresAtMs],
    );
    if (opened !== undefined) return { kind: "opened", session: sessionFrom(opened) };
    const known = await sessionOf(tx, id);
    return known !== null && known.payer === payer && known.maxSpend === maxSpend && known.budgetId === budgetId
      ? { kind: "duplicate", session: known }
      : { kind: "conflict" };
  });
}

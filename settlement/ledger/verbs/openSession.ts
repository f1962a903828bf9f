import type { Address } from "viem";
import type { MicroUsdc } from "../../domain/money.ts";
import { sessionFrom } from "../decode.ts";
import type { Sessions } from "../ledger.ts";
import type { Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";

// The same id again is a duplicate if payer and budget are the same. The end of the session does not count: whoever
// repeats a request reckons it from a later moment.
export async function openSession(
  tx: Tx,
  session: { id: string; payer: Address; maxSpend: MicroUsdc; expiresAtMs: number },
  nowMs: number,
): ReturnType<Sessions["openSession"]> {
  const [opened] = await tx.all(
    `INSERT INTO sessions (id, payer, max_spend, spent, held, status, close_requested, opened_at, expires_at,
       method_price, waiting_count, waiting_amount, waiting_since)
     VALUES ($1, $2, $3, 0, 0, 'open', 0, $4, $5, NULL, 0, 0, NULL)
     ON CONFLICT (id) DO NOTHING
     RETURNING *`,
    [session.id, session.payer, session.maxSpend, nowMs, session.expiresAtMs],
  );
  if (opened !== undefined) return { kind: "opened", session: sessionFrom(opened) };
  const known = await findSession(tx, session.id);
  return known !== null && known.payer === session.payer && known.maxSpend === session.maxSpend
    ? { kind: "duplicate", session: known }
    : { kind: "conflict" };
}

export async function findSession(sql: Reader, id: string) {
  const [row] = await sql.all("SELECT * FROM sessions WHERE id = $1", [id]);
  return row === undefined ? null : sessionFrom(row);
}

import type { Address } from "viem";
import { text } from "../database/decode.ts";
import { CHUNK, type Reader } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validTime } from "../validate.ts";
import { flushSessions } from "./flushSessions.ts";

const WAITING = "SELECT id FROM sessions WHERE payer = $1 AND waiting_since IS NOT NULL";

// Whether calls of this payer wait in sessions.
export function hasWaiting(payer: Address) {
  const asked = validAddress("the payer", payer);
  return async (sql: Reader): Promise<boolean> => (await sql.all(`${WAITING} LIMIT 1`, [asked])).length > 0;
}

// Hands to settlement what all sessions of a payer have captured. Those that another daemon is busy with are left to it. Returns
// how many there were; if there are more than fit into one transaction, the rest stays.
export function flushPayer(payer: Address, nowMs: number) {
  const asked = validAddress("the payer", payer);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<number> => {
    const rows = await tx.all(`${WAITING} ORDER BY id LIMIT ${CHUNK} ${tx.locks.skipLocked}`, [asked]);
    await flushSessions(
      tx,
      rows.map((row) => text(row, "id")),
      nowMs,
    );
    return rows.length;
  };
}

import { text } from "../decode.ts";
import type { FlushPolicy, Sessions } from "../ledger.ts";
import { placeholders } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { flushSessions } from "./flushSessions.ts";
import { voidHold } from "./voidHold.ts";

// Rows that another daemon is busy with are left to it. Holds come last: a call that runs longer than its session may
// still be captured until it is older than any call may get.
export async function sweepSessions(
  tx: Tx,
  policy: FlushPolicy,
  holdTtlMs: number,
  nowMs: number,
  limit: number,
): ReturnType<Sessions["sweepSessions"]> {
  const expired = await idsOf(tx, "status = 'open' AND expires_at <= $1 ORDER BY expires_at", nowMs, limit);
  if (expired.length > 0) {
    await tx.run(`UPDATE sessions SET status = 'expired' WHERE id IN (${placeholders(expired.length)})`, expired);
    await flushSessions(tx, expired, nowMs);
  }

  const old = await idsOf(tx, "waiting_since <= $1 ORDER BY waiting_since", nowMs - policy.maxAgeMs, limit);
  await flushSessions(tx, old, nowMs);

  const holds = await tx.all(
    `SELECT call_id FROM holds WHERE state = 'held' AND held_at <= $1 ORDER BY held_at LIMIT $2 ${tx.locks.skipLocked}`,
    [nowMs - holdTtlMs, limit],
  );
  for (const row of holds) await voidHold(tx, text(row, "call_id"));

  return { expired: expired.length, voided: holds.length, flushed: old.length };
}

async function idsOf(tx: Tx, condition: string, atMs: number, limit: number): Promise<string[]> {
  const rows = await tx.all(`SELECT id FROM sessions WHERE ${condition} LIMIT $2 ${tx.locks.skipLocked}`, [
    atMs,
    limit,
  ]);
  return rows.map((row) => text(row, "id"));
}

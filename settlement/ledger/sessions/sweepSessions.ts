import { text } from "../database/decode.ts";
import { placeholders } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validTime } from "../validate.ts";
import type { FlushPolicy } from "./capture.ts";
import { hasExpiredAt } from "./expiry.ts";
import { flushSessions } from "./flushSessions.ts";
import { giveUp } from "./voidHold.ts";

export type Swept = { expired: number; voided: number; flushed: number };

// Ends the sessions whose time is over, voids holds that are older than `holdTtlMs` and flushes what is due by age. Bounded by
// `limit` per kind; returns how much there was to do. Rows that another daemon is busy with are left to it, so that nobody is
// waited for. Holds are voided last: a call that runs longer than its session may still be captured until it is older than any
// call may get. That of a hold from further ahead than that, by a clock that was wrong, begins now: else what it reserves would not
// be free before that clock's time has come.
export function sweepSessions(policy: FlushPolicy, holdTtlMs: number, nowMs: number, limit: number) {
  validCount("the limit", limit);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Swept> => {
    const holds = await lockHolds(tx, "held_at <= $1", nowMs - holdTtlMs, limit);
    const ahead = await lockHolds(tx, "held_at > $1", nowMs + holdTtlMs, limit);

    const expired = await idsOf(tx, `${hasExpiredAt("$1")} ORDER BY expires_at`, nowMs, limit);
    if (expired.length > 0) {
      await tx.run(`UPDATE sessions SET status = 'expired' WHERE id IN (${placeholders(expired.length)})`, expired);
      await flushSessions(tx, expired, nowMs);
    }

    const old = await idsOf(tx, "waiting_since <= $1 ORDER BY waiting_since", nowMs - policy.maxAgeMs, limit);
    await flushSessions(tx, old, nowMs);

    for (const callId of holds) await giveUp(tx, callId);
    if (ahead.length > 0) {
      await tx.run(
        `UPDATE holds SET held_at = $1 WHERE state = 'held' AND call_id IN (${placeholders(ahead.length, 2)})`,
        [nowMs, ...ahead],
      );
    }

    return { expired: expired.length, voided: holds.length, flushed: old.length };
  };
}

// The calls that are held since then, of sessions that no other daemon is busy with.
async function lockHolds(tx: Tx, since: string, atMs: number, limit: number): Promise<string[]> {
  const held = await tx.all(
    `SELECT call_id, session_id FROM holds WHERE state = 'held' AND ${since}
     ORDER BY held_at LIMIT $2 ${tx.locks.skipLocked}`,
    [atMs, limit],
  );
  const free = await lockFree(
    tx,
    held.map((row) => text(row, "session_id")),
  );
  return held.filter((row) => free.has(text(row, "session_id"))).map((row) => text(row, "call_id"));
}

// Those of these sessions that no other daemon is busy with.
async function lockFree(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.all(
    `SELECT id FROM sessions WHERE id IN (${placeholders(ids.length)}) ${tx.locks.skipLocked}`,
    ids,
  );
  return new Set(rows.map((row) => text(row, "id")));
}

async function idsOf(tx: Tx, condition: string, atMs: number, limit: number): Promise<string[]> {
  const rows = await tx.all(`SELECT id FROM sessions WHERE ${condition} LIMIT $2 ${tx.locks.skipLocked}`, [
    atMs,
    limit,
  ]);
  return rows.map((row) => text(row, "id"));
}

import type { Address } from "viem";
import { count, text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Sql } from "../../settlement/ledger/database/sql.ts";

// What was asked under an Idempotency-Key. A row is made before a tool is called and stays for weeks, so that one key is one
// call whatever happens to the process that made it.

export type Claim = {
  account: Address;
  key: string;
  digest: string;
  callId: string;
  // Names the one attempt; another process may have taken it for dead.
  claim: string;
  holder: string;
  lapsesAtMs: number;
};

// Longer than everything that an attempt may wait for: the hold, a minute for the tool, and the daemon afterwards. Whoever has
// not answered by then has died.
export const CLAIM_MS = 150_000;

export type KeptAnswer = { status: number; body: string };

export type ClaimOutcome =
  | { kind: "claimed" }
  | { kind: "running" }
  // The same key with another request.
  | { kind: "conflict" }
  | { kind: "answered"; answer: KeptAnswer }
  // It was answered so long ago that the answer is not kept any more.
  | { kind: "forgotten" }
  // Whoever claimed it died; what became of the call is not known. It is answered as failed from now on.
  | { kind: "lapsed"; answer: KeptAnswer; callId: string };

export async function claimExecution(
  sql: Sql,
  { account, key, digest, callId, claim, holder, lapsesAtMs }: Claim,
  lapsed: KeptAnswer,
  nowMs: number,
): Promise<ClaimOutcome> {
  const claimed = await sql.run(
    `INSERT INTO executions (account, idempotency_key, digest, call_id, claim, holder, lapses_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (account, idempotency_key) DO NOTHING`,
    [account, key, digest, callId, claim, holder, lapsesAtMs],
  );
  if (claimed > 0) return { kind: "claimed" };
  const [row] = await sql.all("SELECT * FROM executions WHERE account = $1 AND idempotency_key = $2", [account, key]);
  // Given back between the two statements.
  if (row === undefined) return { kind: "running" };
  if (text(row, "digest") !== digest) return { kind: "conflict" };
  if (row.status !== null) {
    if (row.body === null) return { kind: "forgotten" };
    return { kind: "answered", answer: { status: count(row, "status"), body: text(row, "body") } };
  }
  // This very claim, whose first commit was not heard of.
  if (row.claim === claim) return { kind: "claimed" };
  if (count(row, "lapses_at") > nowMs) return { kind: "running" };
  const taken = await sql.run(
    `UPDATE executions SET status = $4, body = $5, answered_at = $6, claim = NULL, holder = NULL
     WHERE account = $1 AND idempotency_key = $2 AND claim = $3`,
    [account, key, text(row, "claim"), lapsed.status, lapsed.body, nowMs],
  );
  return taken > 0 ? { kind: "lapsed", answer: lapsed, callId: text(row, "call_id") } : { kind: "running" };
}

// Keeps the answer, unless another process has taken this one for dead meanwhile: then that answer counts, and this one must
// neither be shown nor charged.
export async function keepAnswer(
  sql: Sql,
  { account, key, claim }: Pick<Claim, "account" | "key" | "claim">,
  { status, body }: KeptAnswer,
  isCharged: boolean,
  nowMs: number,
): Promise<boolean> {
  const kept = await sql.run(
    `UPDATE executions SET status = $4, body = $5, size = $7, charged = $8, answered_at = $6, holder = NULL
     WHERE account = $1 AND idempotency_key = $2 AND claim = $3`,
    [account, key, claim, status, body, nowMs, sizeOf(body), isCharged ? 1 : 0],
  );
  return kept > 0;
}

// Gives a key back whose tool was not called.
export async function releaseClaim(
  sql: Sql,
  { account, key, claim }: Pick<Claim, "account" | "key" | "claim">,
): Promise<void> {
  await sql.run(
    "DELETE FROM executions WHERE account = $1 AND idempotency_key = $2 AND claim = $3 AND status IS NULL",
    [account, key, claim],
  );
}

// What became of the call is not known, and nobody works on it any more.
export async function lapseClaim(
  sql: Sql,
  { account, key, claim }: Pick<Claim, "account" | "key" | "claim">,
  nowMs: number,
): Promise<void> {
  await sql.run(
    "UPDATE executions SET lapses_at = $4 WHERE account = $1 AND idempotency_key = $2 AND claim = $3 AND status IS NULL",
    [account, key, claim, nowMs],
  );
}

// What a process of this name had begun before it died lapses at once: it is this one that has taken its place.
export async function lapseOwn(sql: Sql, holder: string, nowMs: number): Promise<number> {
  return sql.run("UPDATE executions SET lapses_at = $2 WHERE holder = $1 AND status IS NULL AND lapses_at > $2", [
    holder,
    nowMs,
  ]);
}

export const sizeOf = (body: string) => Buffer.byteLength(body);

// Forgets the oldest answers of an account until no more than so much is left. Their keys stay used: whoever comes with one is
// told so, and no tool is called again.
export async function evictAnswers(sql: Sql, account: string, maxBytes: number): Promise<number> {
  return sql.run(
    `UPDATE executions SET body = NULL, size = 0 WHERE account = $1 AND idempotency_key IN
       (SELECT idempotency_key FROM
         (SELECT idempotency_key, SUM(size) OVER (ORDER BY answered_at DESC, idempotency_key) AS kept
          FROM executions WHERE account = $1 AND size > 0) AS sized
        WHERE kept > $2)`,
    [account, maxBytes],
  );
}

// Forgets answers of whomever until no more than so much is left, at most `limit` of them: those first whose calls cost nothing, and the
// oldest of them.
export async function evictOldest(sql: Sql, maxBytes: number, limit: number): Promise<number> {
  const [row] = await sql.all("SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS kept FROM executions WHERE size > 0");
  const excess = count(row ?? {}, "kept") - maxBytes;
  if (excess <= 0) return 0;
  return sql.run(
    `UPDATE executions SET body = NULL, size = 0 WHERE (account, idempotency_key) IN
       (SELECT account, idempotency_key FROM
         (SELECT account, idempotency_key, size,
            SUM(size) OVER (ORDER BY charged, answered_at, account, idempotency_key) AS evicted
          FROM (SELECT account, idempotency_key, size, charged, answered_at FROM executions WHERE size > 0
                ORDER BY charged, answered_at LIMIT ${limit}) AS oldest) AS sized
        WHERE evicted - size < $1)`,
    [excess],
  );
}

// How many keys whose calls were not charged the account has used since a moment, those included that run; no more than `limit`. A claim
// is known by when it lapses.
export async function countFreeKeys(
  sql: Reader,
  account: Address,
  lapsingFromMs: number,
  limit: number,
): Promise<number> {
  const [row] = await sql.all(
    `SELECT COUNT(*) AS keys FROM
       (SELECT 1 FROM executions WHERE account = $1 AND charged = 0 AND lapses_at >= $2 LIMIT $3) AS counted`,
    [account, lapsingFromMs, limit],
  );
  return count(row ?? {}, "keys");
}

export async function isKeyKnown(sql: Reader, account: Address, key: string): Promise<boolean> {
  const rows = await sql.all("SELECT 1 FROM executions WHERE account = $1 AND idempotency_key = $2", [account, key]);
  return rows.length > 0;
}

export async function forgetAnswers(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  return sql.run(
    `UPDATE executions SET body = NULL, size = 0 WHERE (account, idempotency_key) IN
       (SELECT account, idempotency_key FROM executions WHERE answered_at <= $1 AND body IS NOT NULL LIMIT ${limit})`,
    [beforeMs],
  );
}

// Forgets keys whose calls have ended so long ago that nobody repeats them. One of which the daemon has yet to hear stays, and so does
// one whose call may still run.
export async function forgetKeys(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  let free = 0;
  const forget = async (condition: string) => {
    const rows = await sql.all(
      `DELETE FROM executions WHERE (account, idempotency_key) IN
         (SELECT account, idempotency_key FROM executions WHERE ${condition}
            AND NOT EXISTS (SELECT 1 FROM unreported WHERE unreported.call_id = executions.call_id) LIMIT ${limit})
       RETURNING charged`,
      [beforeMs],
    );
    free += rows.filter((row) => count(row, "charged") === 0).length;
    return rows.length;
  };
  const answered = await forget("answered_at <= $1");
  // Whoever claimed it died, and nobody came back for it.
  const died = await forget("status IS NULL AND lapses_at <= $1");
  if (free > 0) await addFreeKeys(sql, -free);
  return Math.max(answered, died);
}

// How many keys there are, of all accounts, whose calls were not charged. Returns the new total.
export async function addFreeKeys(sql: Sql, more: number): Promise<number> {
  const [row] = await sql.all("UPDATE totals SET value = value + $1 WHERE name = 'free_keys' RETURNING value", [more]);
  return count(row ?? {}, "value");
}

export async function readFreeKeys(sql: Reader): Promise<number> {
  const [row] = await sql.all("SELECT value FROM totals WHERE name = 'free_keys'");
  return count(row ?? {}, "value");
}

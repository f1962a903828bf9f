import type { Sql } from "../../settlement/ledger/database/sql.ts";

// A bound on what strangers can make this side keep: the oldest give way.
const MAX_NONCES = 100_000;
const FORGOTTEN_AT_A_TIME = 1_000;

export async function insertNonce(sql: Sql, nonce: string, expiresAtMs: number): Promise<void> {
  await sql.run("INSERT INTO nonces (nonce, expires_at) VALUES ($1, $2) ON CONFLICT (nonce) DO NOTHING", [
    nonce,
    expiresAtMs,
  ]);
}

// Forgets those that are too old, and the oldest of too many. To look through so many takes milliseconds in which nobody else is served,
// so it is not for every new one.
export async function forgetNonces(sql: Sql, nowMs: number, max = MAX_NONCES): Promise<void> {
  await sql.run("DELETE FROM nonces WHERE expires_at <= $1", [nowMs]);
  await sql.run(
    `DELETE FROM nonces WHERE nonce IN
       (SELECT nonce FROM nonces ORDER BY expires_at DESC LIMIT ${FORGOTTEN_AT_A_TIME} OFFSET ${max})`,
  );
}

// Whether the nonce was given out, is not too old, and was not used before. It is used now.
export async function useNonce(sql: Sql, nonce: string, nowMs: number): Promise<boolean> {
  return (await sql.run("DELETE FROM nonces WHERE nonce = $1 AND expires_at > $2", [nonce, nowMs])) > 0;
}

import { hash, randomBytes } from "node:crypto";
import type { Address, Hex } from "viem";
import { address } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Sql } from "../../settlement/ledger/database/sql.ts";

const PREFIX = "login_";
const SECRET_BYTES = 32;

export const LOGIN_PATTERN = /^login_[A-Za-z0-9_-]{43}$/;

export const createLoginSecret = () => PREFIX + randomBytes(SECRET_BYTES).toString("base64url");

const hashOf = (secret: string): Hex => `0x${hash("sha256", secret)}`;

export async function insertLogin(
  sql: Sql,
  secret: string,
  account: Address,
  expiresAtMs: number,
  nowMs: number,
): Promise<void> {
  await sql.run("DELETE FROM logins WHERE expires_at <= $1", [nowMs]);
  await sql.run("INSERT INTO logins (hash, account, expires_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING", [
    hashOf(secret),
    account,
    expiresAtMs,
  ]);
}

export async function findLogin(sql: Reader, secret: string, nowMs: number): Promise<Address | null> {
  const [row] = await sql.all("SELECT account FROM logins WHERE hash = $1 AND expires_at > $2", [
    hashOf(secret),
    nowMs,
  ]);
  return row === undefined ? null : address(row, "account");
}

export async function deleteLogin(sql: Sql, secret: string): Promise<void> {
  await sql.run("DELETE FROM logins WHERE hash = $1", [hashOf(secret)]);
}

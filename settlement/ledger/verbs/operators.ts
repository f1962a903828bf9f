import type { Address } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { address, count, text } from "../decode.ts";
import type { Lease, Operators } from "../ledger.ts";
import type { Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";

const NOBODY = "";

// The holder of a lease keeps its token when it renews it; everybody else gets a higher one.
export async function acquireLease(
  tx: Tx,
  operator: Address,
  holder: string,
  ttlMs: number,
  nowMs: number,
): Promise<Lease | null> {
  const untilMs = nowMs + ttlMs;
  const [row] = await tx.all(
    `INSERT INTO operators (operator, holder, token, until_at, next_nonce) VALUES ($1, $2, 1, $3, 0)
     ON CONFLICT (operator) DO UPDATE SET
       token = operators.token + CASE WHEN operators.holder = excluded.holder THEN 0 ELSE 1 END,
       holder = excluded.holder,
       until_at = excluded.until_at
     WHERE operators.holder = excluded.holder OR operators.until_at <= $4
     RETURNING token`,
    [operator, holder, untilMs, nowMs],
  );
  return row === undefined ? null : { operator, holder, token: count(row, "token"), untilMs };
}

// Without effect if somebody else has it by now.
export async function releaseLease(tx: Tx, { operator, token }: Lease): Promise<void> {
  await tx.run("UPDATE operators SET holder = $3, until_at = 0 WHERE operator = $1 AND token = $2", [
    operator,
    token,
    NOBODY,
  ]);
}

export async function operators(sql: Reader): ReturnType<Operators["operators"]> {
  const rows = await sql.all("SELECT operator, holder, until_at, next_nonce FROM operators ORDER BY operator");
  return rows.map((row) => ({
    operator: address(row, "operator"),
    holder: text(row, "holder") === NOBODY ? null : text(row, "holder"),
    untilMs: count(row, "until_at"),
    nextNonce: count(row, "next_nonce"),
  }));
}

// Every write for an operator begins with this. The row stays locked until the commit, so that nobody can take the lease
// over in between.
export async function requireLease(tx: Tx, { operator, holder, token }: Lease): Promise<void> {
  const [row] = await tx.all(`SELECT holder, token FROM operators WHERE operator = $1 ${tx.locks.forUpdate}`, [
    operator,
  ]);
  if (row !== undefined && count(row, "token") === token && text(row, "holder") === holder) return;
  throw new SettlementError(
    "fenced",
    `${holder} no longer holds the lease of operator ${operator}: token ${token} was followed by ` +
      `${row === undefined ? "none" : row.token}. Nothing was changed.`,
  );
}

// The first reason stays until it is lifted: what comes after it is usually its consequence.
export async function halt(tx: Tx, reason: string, nowMs: number): Promise<void> {
  await tx.run("INSERT INTO halts (id, reason, since_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING", [
    reason,
    nowMs,
  ]);
}

export async function halted(sql: Reader): ReturnType<Operators["halted"]> {
  const [row] = await sql.all("SELECT reason, since_at FROM halts");
  return row === undefined ? null : { reason: text(row, "reason"), sinceMs: count(row, "since_at") };
}

export async function resume(tx: Tx): Promise<void> {
  await tx.run("DELETE FROM halts");
}

import type { Address } from "viem";
import { isChargedTo } from "../../database/beginnings.ts";
import { address, count } from "../../database/decode.ts";
import type { Reader } from "../../database/sql.ts";
import { lockOperators } from "../../database/transactions/lockOrder.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { validAddress, validCount, validTime } from "../../validate.ts";
import { lockSessionsOf, mayBeTaken } from "../adopt/stopWaiting.ts";

// Accounts of which nothing is due before this time.
export function listLate(latestMs: number, limit: number) {
  validTime("the latest time", latestMs);
  validCount("the limit", limit);
  return async (sql: Reader): Promise<Address[]> => {
    const rows = await sql.all("SELECT account FROM due_accounts WHERE due_at > $1 ORDER BY due_at, account LIMIT $2", [
      latestMs,
      limit,
    ]);
    return rows.map((row) => address(row, "account"));
  };
}

// Of so many accounts after this one, in the order of their names, those of which something is due after this time, whatever else of them
// is due before. `last` is where to go on; null behind the last of all.
export function listPartlyLate(latestMs: number, after: Address | null, limit: number) {
  validTime("the latest time", latestMs);
  validCount("the limit", limit);
  return async (sql: Reader): Promise<{ late: Address[]; last: Address | null }> => {
    const rows = await sql.all(
      `SELECT account, CASE WHEN due_at IS NOT NULL AND EXISTS (
         SELECT 1 FROM charges c WHERE c.state = 'accrued' AND ${isChargedTo("due_accounts.account", "c.")} AND c.due_at > $1
       ) THEN 1 ELSE 0 END AS late FROM due_accounts WHERE account > $2 ORDER BY account LIMIT $3`,
      [latestMs, after ?? "", limit],
    );
    const last = rows.at(-1);
    return {
      late: rows.filter((row) => count(row, "late") === 1).map((row) => address(row, "account")),
      last: last === undefined || rows.length < limit ? null : address(last, "account"),
    };
  };
}

// What is due later than anything ever waits was accrued, or tried, by a clock that was ahead. It is due now: else it would wait for as
// long as that clock was wrong, and nobody would notice.
export function bringForward(accounts: readonly Address[], latestMs: number, nowMs: number) {
  const late = accounts.map((account) => validAddress("the account", account)).sort();
  validTime("the latest time", latestMs);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<void> => {
    await lockOperators(tx);
    for (const account of late) {
      const isLate = `state = 'accrued' AND ${isChargedTo("$1")} AND due_at > $2`;
      const locked = await lockSessionsOf(tx, `(SELECT * FROM charges WHERE ${isLate})`, [account, latestMs]);
      await tx.run(`UPDATE charges SET due_at = $3 WHERE ${isLate} ${mayBeTaken(locked, 4)}`, [
        ...[account, latestMs, nowMs],
        ...(locked ?? []),
      ]);
      tx.due.move(account);
    }
  };
}

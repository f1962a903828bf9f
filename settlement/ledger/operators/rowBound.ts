import type { Address } from "viem";
import { count } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validCount } from "../validate.ts";
import type { Lease } from "./lease.ts";

// The most rows that a batch of this operator may have, because a larger one ran out of gas; null for no such bound.
export function readRowBound(operator: Address) {
  const account = validAddress("the operator", operator);
  return async (sql: Reader): Promise<number | null> => {
    const [row] = await sql.all("SELECT row_bound FROM operators WHERE operator = $1 AND row_bound IS NOT NULL", [
      account,
    ]);
    return row === undefined ? null : count(row, "row_bound");
  };
}

// Kept here and not in memory, so that whoever takes over makes no batch that was too large.
export function setRowBound({ operator }: Lease, rows: number | null) {
  if (rows !== null) validCount("the most rows", rows);
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE operators SET row_bound = $2 WHERE operator = $1", [operator, rows]);
  };
}

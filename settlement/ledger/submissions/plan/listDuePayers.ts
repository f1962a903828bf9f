import type { Address } from "viem";
import type { MicroUsdc } from "../../../domain/money.ts";
import { address, amount, count } from "../../database/decode.ts";
import type { Reader } from "../../database/sql.ts";
import { validCount, validTime } from "../../validate.ts";

// Amount and number are those of all charges that wait, of which some may be due later.
export type DuePayer = { chargedTo: Address; amount: MicroUsdc; charges: number; oldestDueAtMs: number };

// The accounts with due charges, longest waiting first.
export function listDuePayers(nowMs: number, limit: number) {
  validTime("now", nowMs);
  validCount("the limit", limit);
  return async (sql: Reader): Promise<DuePayer[]> => {
    const rows = await sql.all(
      "SELECT account, amount, charges, due_at FROM due_accounts WHERE due_at <= $1 ORDER BY due_at, account LIMIT $2",
      [nowMs, limit],
    );
    return rows.map((row) => ({
      chargedTo: address(row, "account"),
      amount: amount(row),
      charges: count(row, "charges"),
      oldestDueAtMs: count(row, "due_at"),
    }));
  };
}

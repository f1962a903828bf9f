import type { Address } from "viem";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
import { isChargedTo } from "../../database/beginnings.ts";
import { budgetId, count } from "../../database/decode.ts";
import type { Reader } from "../../database/sql.ts";
import { validAddress, validCount, validTime } from "../../validate.ts";

// What one row of an account can take: so many charges that draw on one budget, null for none, all of them due by a time.
export type DueRow = { chargedTo: Address; budgetId: bigint | null; charges: number; dueUpToMs: number };

// Accounts that are looked at before others run.
const ACCOUNTS_AT_ONCE = 10;

// For accounts with charges under several budgets. Of each the `look` charges that have waited longest are looked at, and the first of
// them decides what its row draws on. An account that has nothing due is left out.
export function listDueRows(accounts: readonly Address[], nowMs: number, look: number) {
  const asked = accounts.map((account) => validAddress("the account", account));
  validTime("now", nowMs);
  validCount("how many are looked at", look);
  return async (sql: Reader): Promise<DueRow[]> => {
    const rows: DueRow[] = [];
    for (const [i, account] of asked.entries()) {
      if (i % ACCOUNTS_AT_ONCE === ACCOUNTS_AT_ONCE - 1) await letOthersRun();
      const oldest = await sql.all(
        `SELECT CASE WHEN payer = charged_to THEN budget_id END AS budget_id, due_at FROM charges
         WHERE state = 'accrued' AND ${isChargedTo("$1")} AND due_at <= $2
         ORDER BY due_at, id LIMIT $3`,
        [account, nowMs, look],
      );
      const [first] = oldest;
      const last = oldest.at(-1);
      if (first === undefined || last === undefined) continue;
      const charges = oldest.filter((row) => row.budget_id === first.budget_id).length;
      rows.push({ chargedTo: account, budgetId: budgetId(first), charges, dueUpToMs: count(last, "due_at") });
    }
    return rows;
  };
}

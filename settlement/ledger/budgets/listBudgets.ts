import type { Address } from "viem";
import type { BudgetKey, KnownBudget } from "../../domain/payer/budget.ts";
import { count } from "../database/decode.ts";
import { chunksOf, placeholders, type Reader, type Row } from "../database/sql.ts";
import { lower, validCount } from "../validate.ts";
import { budgetFrom } from "./decode.ts";

// Of one payer, newest signature first.
export function listBudgets(payer: Address, limit: number, offset: number) {
  const page = [lower(payer), validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<KnownBudget[]> => {
    const rows = await sql.all(
      "SELECT * FROM budgets WHERE payer = $1 ORDER BY signed_at DESC, id DESC LIMIT $2 OFFSET $3",
      page,
    );
    return rows.map(budgetFrom);
  };
}

// Under how many other budgets of a payer something is reserved, or waits to be settled.
export function countOpenBudgets({ payer, id }: BudgetKey) {
  const key = [lower(payer), id.toString()];
  return async (sql: Reader): Promise<number> => {
    const [row = {}] = await sql.all(
      "SELECT COUNT(*) AS budgets FROM budgets WHERE payer = $1 AND id <> $2 AND (held > 0 OR pending > 0)",
      key,
    );
    return count(row, "budgets");
  };
}

// Those of these payers under which something waits to be settled.
export function listBudgetsDue(payers: readonly Address[]) {
  const asked = [...new Set(payers.map(lower))];
  return async (sql: Reader): Promise<KnownBudget[]> => {
    const rows: Row[] = [];
    for (const chunk of chunksOf(asked)) {
      const some = `SELECT * FROM budgets WHERE pending > 0 AND payer IN (${placeholders(chunk.length)}) ORDER BY payer, id`;
      rows.push(...(await sql.all(some, chunk)));
    }
    return rows.map(budgetFrom);
  };
}

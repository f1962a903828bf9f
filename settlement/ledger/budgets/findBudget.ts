import type { BudgetKey, KnownBudget } from "../../domain/payer/budget.ts";
import type { Reader } from "../database/sql.ts";
import { lower } from "../validate.ts";
import { budgetFrom } from "./decode.ts";

export function findBudget(key: BudgetKey) {
  return (sql: Reader): Promise<KnownBudget | null> => budgetOf(sql, key);
}

export async function budgetOf(sql: Reader, { payer, id }: BudgetKey): Promise<KnownBudget | null> {
  const [row] = await sql.all("SELECT * FROM budgets WHERE payer = $1 AND id = $2", [lower(payer), id.toString()]);
  return row === undefined ? null : budgetFrom(row);
}

import { microUsdc } from "../../domain/money.ts";
import { type BudgetKey, budgetName, type KnownBudget } from "../../domain/payer/budget.ts";
import { allOf, askingWith } from "../database/lists.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { budgetFrom } from "./decode.ts";

// Budgets as of this moment of a transaction, by `budgetName`: with what it has changed itself and is in no row yet. Nobody else can
// draw on them before it commits if it has their payers locked.
export async function readBudgets(tx: Tx, keys: readonly BudgetKey[]): Promise<Map<string, KnownBudget>> {
  const asked = [...new Map(keys.map((key) => [budgetName(key), key])).values()];
  const asking = askingWith(
    tx,
    ["TEXT", "TEXT"],
    asked.flatMap(({ payer, id }) => [payer, id.toString()]),
    (table) => `SELECT budgets.* FROM ${table} AS asked
      JOIN budgets ON budgets.payer = asked.column1 AND budgets.id = asked.column2`,
  );
  const rows = await allOf(tx, asking);
  return new Map(
    rows.map((row) => {
      const budget = budgetFrom(row);
      const own = tx.drawnOf(budget);
      const [held, pending] = [microUsdc(budget.held + own.held), microUsdc(budget.pending + own.pending)];
      return [budgetName(budget), { ...budget, held, pending, taken: microUsdc(budget.taken + own.taken) }];
    }),
  );
}

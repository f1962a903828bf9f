import { type BudgetKey, budgetName, type KnownBudget } from "../../domain/budget.ts";
import { microUsdc } from "../../domain/money.ts";
import { inEvenChunks } from "../database/sql.ts";
import type { Tx } from "../database/tx.ts";
import { budgetFrom } from "./decode.ts";

// Budgets as of this moment of a transaction, by `budgetName`: with what it has changed itself and is in no row yet. Nobody else can
// draw on them before it commits if it has their payers locked.
export async function readBudgets(tx: Tx, keys: readonly BudgetKey[]): Promise<Map<string, KnownBudget>> {
  const asked = [...new Map(keys.map((key) => [budgetName(key), key])).values()];
  const rows = await inEvenChunks(asked, (chunk) => {
    const wanted = chunk.map((_, i) => `(payer = $${2 * i + 1} AND id = $${2 * i + 2})`).join(" OR ");
    return tx.all(
      `SELECT * FROM budgets WHERE ${wanted}`,
      chunk.flatMap(({ payer, id }) => [payer, id.toString()]),
    );
  });
  return new Map(
    rows.map((row) => {
      const budget = budgetFrom(row);
      const own = tx.drawnOf(budget);
      const [held, pending] = [microUsdc(budget.held + own.held), microUsdc(budget.pending + own.pending)];
      return [budgetName(budget), { ...budget, held, pending, taken: microUsdc(budget.taken + own.taken) }];
    }),
  );
}

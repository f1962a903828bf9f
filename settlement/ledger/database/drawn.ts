import { type BudgetKey, budgetName } from "../../domain/budget.ts";
import { evenChunksOf, type Param, type Sql } from "./sql.ts";

// What draws on a budget: reserved, owed, and taken on chain; and what of that has left for the archive.
export type Drawn = { held: bigint; pending: bigint; taken: bigint; archived: bigint };

const NOTHING: Drawn = { held: 0n, pending: 0n, taken: 0n, archived: 0n };
const SUMS = ["held", "pending", "taken", "archived"] as const;

// What a transaction changes of budgets. Gathered and written before the commit, after the payers whose budgets they are.
export function createDrawn() {
  const changes = new Map<string, { key: BudgetKey; change: Drawn }>();
  return {
    add(key: BudgetKey, by: Drawn): void {
      const { change } = changes.get(budgetName(key)) ?? { change: NOTHING };
      const after = { ...change };
      for (const sum of SUMS) after[sum] += by[sum];
      changes.set(budgetName(key), { key, change: after });
    },
    of: (key: BudgetKey): Drawn => changes.get(budgetName(key))?.change ?? NOTHING,
    write({ send }: Sql): void {
      const rows = [...changes.values()].filter(({ change }) => SUMS.some((sum) => change[sum] !== 0n));
      for (const chunk of evenChunksOf(rows)) {
        const params: Param[] = [];
        for (const { key, change } of chunk) {
          params.push(key.payer, key.id.toString(), ...SUMS.map((sum) => change[sum]));
        }
        const values = chunk.map((_, i) => {
          const [payer, id, ...sums] = [1, 2, 3, 4, 5, 6].map((column) => `$${6 * i + column}`);
          return `(${payer}, ${id}, ${sums.map((sum) => `CAST(${sum} AS BIGINT)`).join(", ")})`;
        });
        send(
          `UPDATE budgets SET held = held + drawn.column3, pending = pending + drawn.column4, taken = taken + drawn.column5,
             archived = archived + drawn.column6
           FROM (VALUES ${values.join(", ")}) AS drawn
           WHERE budgets.payer = drawn.column1 AND budgets.id = drawn.column2`,
          params,
        );
      }
    },
  };
}

import { type BudgetKey, budgetName } from "../../../domain/payer/budget.ts";
import { askingWith, sendAll } from "../lists.ts";
import type { Column, Param, Sql } from "../sql.ts";

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
    write(sql: Sql): void {
      const rows = [...changes.values()].filter(({ change }) => SUMS.some((sum) => change[sum] !== 0n));
      const params: Param[] = [];
      for (const { key, change } of rows) {
        params.push(key.payer, key.id.toString(), ...SUMS.map((sum) => change[sum]));
      }
      sendAll(sql, askingWith(sql, COLUMNS, params, draw));
    },
  };
}

const COLUMNS: readonly Column[] = ["TEXT", "TEXT", ...SUMS.map(() => "BIGINT" as const)];

const draw = (table: string) =>
  `UPDATE budgets SET held = held + drawn.column3, pending = pending + drawn.column4, taken = taken + drawn.column5,
     archived = archived + drawn.column6
   FROM ${table} AS drawn
   WHERE budgets.payer = drawn.column1 AND budgets.id = drawn.column2`;

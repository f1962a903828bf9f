import type { Runner } from "../database/transactions/createRunner.ts";
import { findBudget } from "./findBudget.ts";
import { keepBudget } from "./keepBudget.ts";
import { countOpenBudgets, listBudgets, listBudgetsDue } from "./listBudgets.ts";
import { noteCarried } from "./noteCarried.ts";

export type Budgets = ReturnType<typeof createBudgets>;

// What payers have signed. Holds and turns draw on it.
export function createBudgets({ shared, read }: Runner) {
  return {
    keepBudget: shared(keepBudget, "kept"),
    noteCarried: shared(noteCarried),
    findBudget: read(findBudget),
    listBudgets: read(listBudgets),
    listBudgetsDue: read(listBudgetsDue),
    countOpenBudgets: read(countOpenBudgets),
  };
}

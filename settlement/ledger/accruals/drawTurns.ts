import {
  type BudgetFailure,
  type BudgetKey,
  type BudgetOnChain,
  budgetName,
  whyNotDrawn,
} from "../../domain/budget.ts";
import { microUsdc } from "../../domain/money.ts";
import type { Turn } from "../../domain/turn.ts";
import { readBudgets } from "../budgets/draw.ts";
import type { Tx } from "../database/tx.ts";
import type { DeliveredCharge } from "./insertCharges.ts";

export type DrawRefusal = { kind: "budget_refused"; reason: BudgetFailure | "budget_unknown" };

type Drawing = {
  turn: Turn;
  nowMs: number;
  // What the chain said of its budget.
  onChain: BudgetOnChain | null;
  charges: readonly DeliveredCharge[];
};

const SECOND_MS = 1_000;

// The budgets of some turns, whose payers are locked: turns and calls that come at the same time never draw more than was signed.
export async function readDraws(tx: Tx, turns: readonly Pick<Drawing, "turn">[]) {
  const budgets = await readBudgets(
    tx,
    turns.flatMap(({ turn }) => keyOf(turn) ?? []),
  );
  return {
    // Why its budget does not cover a turn; null if it does, or if the turn has none.
    refuse({ turn, nowMs, onChain, charges }: Drawing): DrawRefusal | null {
      const key = keyOf(turn);
      if (key === null) return null;
      const budget = budgets.get(budgetName(key));
      if (budget === undefined || onChain === null) return { kind: "budget_refused", reason: "budget_unknown" };
      const settledBy = BigInt(Math.ceil(nowMs / SECOND_MS));
      const toolIds = owedOf(charges).flatMap(({ toolId }) => toolId ?? []);
      const reason = whyNotDrawn(budget, onChain, { amount: sumOf(charges), toolIds, settledBy });
      return reason === null ? null : { kind: "budget_refused", reason };
    },
    // It is recorded: the next one finds less.
    take({ turn, charges }: Pick<Drawing, "turn" | "charges">): void {
      const key = keyOf(turn);
      const budget = key === null ? undefined : budgets.get(budgetName(key));
      if (budget === undefined) return;
      budgets.set(budgetName(budget), { ...budget, pending: microUsdc(budget.pending + sumOf(charges)) });
    },
  };
}

function keyOf({ payer, budgetId }: Turn): BudgetKey | null {
  return budgetId == null ? null : { payer, id: budgetId };
}

const owedOf = (charges: readonly DeliveredCharge[]) => charges.filter(({ state }) => state === "accrued");

const sumOf = (charges: readonly DeliveredCharge[]) => owedOf(charges).reduce((sum, { amount }) => sum + amount, 0n);

import type { Turn, TurnHold } from "../../domain/charges/turn.ts";
import { microUsdc } from "../../domain/money.ts";
import {
  type BudgetFailure,
  type BudgetKey,
  type BudgetOnChain,
  budgetName,
  whyNotDrawn,
} from "../../domain/payer/budget.ts";
import { readBudgets } from "../budgets/draw.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { DeliveredCharge } from "./insertCharges.ts";

export type DrawRefusal = { kind: "budget_refused"; reason: BudgetFailure | "budget_unknown" };

type Drawing = {
  turn: Turn;
  nowMs: number;
  // What the chain said of its budget.
  onChain: BudgetOnChain | null;
  charges: readonly DeliveredCharge[];
  // What was reserved for it.
  hold: TurnHold | null;
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
    //
    // What was held on it is drawn already, and was agreed to in time: of that only the tools are asked about, which nobody knew then.
    refuse({ turn, nowMs, onChain, charges, hold }: Drawing): DrawRefusal | null {
      const key = keyOf(turn);
      if (key === null) return null;
      const budget = budgets.get(budgetName(key));
      if (budget === undefined || onChain === null) return { kind: "budget_refused", reason: "budget_unknown" };
      const more = sumOf(charges) - heldOn(key, hold);
      const settledBy = more <= 0n ? 0n : BigInt(Math.ceil(nowMs / SECOND_MS));
      const toolIds = owedOf(charges).flatMap(({ toolId }) => toolId ?? []);
      const reason = whyNotDrawn(budget, onChain, { amount: more, toolIds, settledBy });
      return reason === null ? null : { kind: "budget_refused", reason };
    },
    // It is recorded: the next one finds less.
    take({ turn, charges, hold }: Pick<Drawing, "turn" | "charges" | "hold">): void {
      const key = keyOf(turn);
      const budget = key === null ? undefined : budgets.get(budgetName(key));
      if (key === null || budget === undefined) return;
      const [held, pending] = [budget.held - heldOn(key, hold), budget.pending + sumOf(charges)];
      budgets.set(budgetName(budget), { ...budget, held: microUsdc(held), pending: microUsdc(pending) });
    },
  };
}

function keyOf({ payer, budgetId }: Turn): BudgetKey | null {
  return budgetId == null ? null : { payer, id: budgetId };
}

// What is reserved for a turn may be of another budget, or of none.
const heldOn = ({ id }: BudgetKey, hold: TurnHold | null): bigint => (hold?.budgetId === id ? hold.amount : 0n);

const owedOf = (charges: readonly DeliveredCharge[]) => charges.filter(({ state }) => state === "accrued");

const sumOf = (charges: readonly DeliveredCharge[]) => owedOf(charges).reduce((sum, { amount }) => sum + amount, 0n);

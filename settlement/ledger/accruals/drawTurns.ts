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
import { text } from "../database/decode.ts";
import { inEvenChunks, tuples } from "../database/sql.ts";
import type { Tx } from "../database/tx.ts";
import type { DeliveredCharge } from "./insertCharges.ts";

export type DrawRefusal = { kind: "budget_refused"; reason: BudgetFailure | "budget_unknown" };

type Drawing<T> = {
  one: T;
  turn: Turn;
  nowMs: number;
  // What the chain said of its budget.
  onChain: BudgetOnChain | null;
  charges: readonly DeliveredCharge[];
};

const SECOND_MS = 1_000;

// Of turns that are new, those that their budgets do not cover, one after another: none of them is recorded. Their payers are
// locked, so that turns and calls which come at the same time never draw more than was signed. What was recorded before is left
// to whoever finds it.
export async function refuseOverdrawn<T>(tx: Tx, reported: readonly Drawing<T>[]): Promise<Map<T, DrawRefusal>> {
  const refused = new Map<T, DrawRefusal>();
  const drawing = reported.filter(({ turn }) => keyOf(turn) !== null);
  if (drawing.length === 0) return refused;
  const [seen, budgets] = await Promise.all([
    readSeen(
      tx,
      drawing.map(({ turn }) => turn.id),
    ),
    readBudgets(
      tx,
      drawing.flatMap(({ turn }) => keyOf(turn) ?? []),
    ),
  ]);
  for (const { one, turn, nowMs, onChain, charges } of drawing) {
    const key = keyOf(turn);
    if (key === null || seen.has(turn.id)) continue;
    const budget = budgets.get(budgetName(key));
    if (budget === undefined || onChain === null) {
      refused.set(one, { kind: "budget_refused", reason: "budget_unknown" });
    } else {
      const owed = charges.filter(({ state }) => state === "accrued");
      const amount = owed.reduce((sum, charge) => sum + charge.amount, 0n);
      const toolIds = owed.flatMap(({ toolId }) => toolId ?? []);
      const settledBy = BigInt(Math.ceil(nowMs / SECOND_MS));
      const reason = whyNotDrawn(budget, onChain, { amount, toolIds, settledBy });
      if (reason !== null) refused.set(one, { kind: "budget_refused", reason });
      else {
        seen.add(turn.id);
        budgets.set(budgetName(key), { ...budget, pending: microUsdc(budget.pending + amount) });
      }
    }
  }
  return refused;
}

function keyOf({ payer, budgetId }: Turn): BudgetKey | null {
  return budgetId == null ? null : { payer, id: budgetId };
}

async function readSeen(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  const rows = await inEvenChunks(ids, (chunk) =>
    tx.all(`SELECT id FROM turns WHERE id IN ${tuples(1, chunk.length)}`, chunk),
  );
  return new Set(rows.map((row) => text(row, "id")));
}

import type { TurnHold } from "../../domain/charges/turn.ts";
import { budgetName, remainingOf } from "../../domain/payer/budget.ts";
import { type CreditPolicy, type CreditRefusal, refuseCredit } from "../../domain/payer/credit.ts";
import type { ReadFunds } from "../../domain/payer/payer.ts";
import { readBudgets } from "../budgets/draw.ts";
import type { Conflict } from "../conflict.ts";
import { amount, integer } from "../database/decode.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { invalid, validAddress, validAmount, validName, validTime } from "../validate.ts";
import { turnHoldFrom } from "./turnHolds.ts";

export type TurnHoldOutcome =
  // Of one that was held before, its time begins again.
  | { kind: "held" | "duplicate" }
  // All that the payer owes already comes to more than was said to be spendable, or to be left of the budget.
  | { kind: "unaffordable" }
  // It comes to more than the payer's credit and its prepaid money.
  | ({ kind: "credit_exceeded" } & CreditRefusal)
  // What was said to be spendable is from before `takenAtBlock`, when something of it was taken: ask the chain again.
  | { kind: "outdated"; takenAtBlock: bigint }
  | Conflict;

// Reserves what a turn may cost at the most beside everything of its payer's that is pending and held, those of calls included: the
// payer's row is locked, so that nothing else is given the same last cent. `funds` may be missing for one that was held before.
export function holdTurn(hold: TurnHold, funds: ReadFunds | null, nowMs: number, credit: CreditPolicy | null = null) {
  const turnId = validName("the turn's id", hold.turnId);
  const payer = validAddress("the payer", hold.payer);
  const reserved = validAmount("what the turn may cost", hold.amount);
  if (reserved === 0n) invalid(`turn ${turnId} may cost nothing, and needs no hold`);
  const { budgetId } = hold;
  validTime("now", nowMs);
  return touching({ lock: "turns", name: turnId, payers: [payer] }, async (tx: Tx): Promise<TurnHoldOutcome> => {
    const [known] = await tx.all("SELECT * FROM turn_holds WHERE turn_id = $1", [turnId]);
    if (known !== undefined) {
      const before = turnHoldFrom(known);
      const isSame = before.payer === payer && before.amount === reserved && before.budgetId === budgetId;
      if (!isSame) return { kind: "conflict" };
      await tx.run("UPDATE turn_holds SET held_at = $2 WHERE turn_id = $1 AND held_at < $2", [turnId, nowMs]);
      return { kind: "duplicate" };
    }
    const refusal = await refuse(tx, { turnId, payer, amount: reserved, budgetId }, funds, credit);
    if (refusal !== null) return refusal;
    const inserted = await tx.run(
      `INSERT INTO turn_holds (turn_id, payer, budget_id, amount, held_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (turn_id) DO NOTHING`,
      [turnId, payer, budgetId?.toString() ?? null, reserved, nowMs],
    );
    // Another daemon was given the same id for another payer, whose row is not locked here.
    if (inserted === 0) return { kind: "conflict" };
    tx.change(payer, { held: reserved }, budgetId);
    return { kind: "held" };
  });
}

// What this transaction has changed so far is in no row yet.
async function refuse(
  tx: Tx,
  { payer, amount: reserved, budgetId }: TurnHold,
  funds: ReadFunds | null,
  credit: CreditPolicy | null,
): Promise<TurnHoldOutcome | null> {
  const [row] = await tx.all(
    "SELECT pending + held AS committed, settled, taken_at_block FROM payers WHERE payer = $1",
    [payer],
  );
  const own = tx.changeOf(payer);
  const committed = (row === undefined ? 0n : amount(row, "committed")) + own.pending + own.held;
  const settled = (row === undefined ? 0n : amount(row, "settled")) + own.settled;
  const takenAtBlock = row === undefined ? 0n : integer(row, "taken_at_block");
  if (funds === null || funds.atBlock < takenAtBlock) return { kind: "outdated", takenAtBlock };
  if (committed + reserved > funds.amount) return { kind: "unaffordable" };
  if (budgetId !== null) {
    const key = { payer, id: budgetId };
    const budget = (await readBudgets(tx, [key])).get(budgetName(key));
    const left = budget === undefined || funds.budget == null ? 0n : remainingOf(budget, funds.budget);
    if (reserved > left) return { kind: "unaffordable" };
  }
  const refusal =
    credit === null ? null : refuseCredit(credit, { committed, settled, prepaid: funds.prepaid ?? 0n }, reserved);
  return refusal === null ? null : { kind: "credit_exceeded", ...refusal };
}

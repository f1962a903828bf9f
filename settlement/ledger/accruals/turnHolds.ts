import type { Turn, TurnHold } from "../../domain/charges/turn.ts";
import { address, amount, budgetId, text } from "../database/decode.ts";
import { allOf, askingWithin } from "../database/lists.ts";
import { chunksOf, placeholders, type Reader, type Row } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName } from "../validate.ts";

export function turnHoldFrom(row: Row): TurnHold {
  return {
    turnId: text(row, "turn_id"),
    payer: address(row, "payer"),
    amount: amount(row),
    budgetId: budgetId(row),
  };
}

// Null if nothing is reserved for it.
export function findTurnHold(turnId: string) {
  validName("the turn's id", turnId);
  return async (sql: Reader): Promise<TurnHold | null> => {
    const [row] = await sql.all("SELECT * FROM turn_holds WHERE turn_id = $1", [turnId]);
    return row === undefined ? null : turnHoldFrom(row);
  };
}

const HOLDS = (list: string) => `SELECT * FROM turn_holds WHERE turn_id ${list}`;

// What was reserved for these turns. Their payers are locked, and so is what is theirs; a hold of another payer's under the same id is
// none of this turn's.
export async function readTurnHolds(tx: Tx, turns: readonly Pick<Turn, "id" | "payer">[]) {
  const ids = [...new Set(turns.map(({ id }) => id))];
  const rows = await allOf(tx, askingWithin(tx, "TEXT", ids, HOLDS));
  const holds = new Map(rows.map((row) => [text(row, "turn_id"), turnHoldFrom(row)]));
  return ({ id, payer }: Pick<Turn, "id" | "payer">): TurnHold | null => {
    const hold = holds.get(id);
    return hold?.payer === payer ? hold : null;
  };
}

// They have come to their end: what was reserved is free again, or owed from now on.
export function dropTurnHolds(tx: Tx, holds: readonly TurnHold[]): void {
  for (const chunk of chunksOf(holds)) {
    tx.send(
      `DELETE FROM turn_holds WHERE turn_id IN (${placeholders(chunk.length)})`,
      chunk.map(({ turnId }) => turnId),
    );
  }
  for (const { payer, amount: reserved, budgetId: id } of holds) tx.change(payer, { held: -reserved }, id);
}

import type { Address } from "viem";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validName } from "../validate.ts";
import { dropTurnHolds, readTurnHolds } from "./turnHolds.ts";

// A duplicate has been recorded or voided before, or was never held: nothing is reserved for it.
export type TurnVoidOutcome = { kind: "voided" | "duplicate" };

// Nothing will be owed for this turn: what was reserved for it is free again.
export function voidTurn(turnId: string, payer: Address) {
  const turn = { id: validName("the turn's id", turnId), payer: validAddress("the payer", payer) };
  return touching({ lock: "payers", payers: [turn.payer] }, async (tx: Tx): Promise<TurnVoidOutcome> => {
    const hold = (await readTurnHolds(tx, [turn]))(turn);
    if (hold === null) return { kind: "duplicate" };
    dropTurnHolds(tx, [hold]);
    return { kind: "voided" };
  });
}

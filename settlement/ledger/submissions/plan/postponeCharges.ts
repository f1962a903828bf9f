import type { DueCharge } from "../../../domain/charges/charge.ts";
import { chargeKeys, chunksOf } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validTime } from "../../validate.ts";

// Due charges that no batch can have now are due later, without using up an attempt. Those who have waited longest come first, so
// that whoever stays due and cannot be settled would keep all others from it.
export function postponeCharges(_: Lease, charges: readonly DueCharge[], dueAtMs: number) {
  validTime("the time", dueAtMs);
  return async (tx: Tx): Promise<void> => {
    for (const chunk of chunksOf(charges)) {
      await tx.run(
        `UPDATE charges SET due_at = $1
         WHERE state = 'accrued' AND due_at < $1 AND (accrued_at, id) IN ${chargeKeys(chunk.length, 2)}`,
        [dueAtMs, ...chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id])],
      );
    }
    for (const { chargedTo } of charges) tx.due.move(chargedTo);
  };
}

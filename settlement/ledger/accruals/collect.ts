import type { Address } from "viem";
import { chunksOf, placeholders } from "../database/sql.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validTime } from "../validate.ts";

// What these payers owe is due now, because they can pay it.
export function collect(payers: readonly Address[], nowMs: number) {
  const owing = payers.map((payer) => validAddress("the payer", payer)).sort();
  validTime("now", nowMs);
  return async (tx: Tx): Promise<void> => {
    await lockOperators(tx);
    for (const chunk of chunksOf(owing)) {
      await tx.run(
        `UPDATE charges SET due_at = $1
         WHERE state = 'accrued' AND attempts > 0 AND owed = 1 AND due_at > $1 AND charged_to IN (${placeholders(chunk.length, 2)})`,
        [nowMs, ...chunk],
      );
      for (const payer of chunk) tx.due.move(payer);
    }
  };
}

import { toStorable } from "../database/storable.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount } from "../validate.ts";
import { halt } from "./halt.ts";
import type { Lease } from "./lease.ts";

// Halts because nonces up to `chainNonce` were used that this ledger never gave out, and counts them as used: so that the
// same use halts once, and a person who has looked can let settlement go on. While all is halted for something else they are not
// counted: whoever found them may die before anybody is told, and they must be found again when that halt is lifted.
export function haltForForeignNonces(
  { operator }: Lease,
  chainNonce: number,
  reason: string,
  nowMs: number,
  lifted: number,
) {
  validCount("the nonce", chainNonce);
  const halted = halt(reason, nowMs, lifted);
  return async (tx: Tx): Promise<void> => {
    await halted(tx);
    await tx.run(
      `UPDATE operators SET next_nonce = $2
       WHERE operator = $1 AND next_nonce < $2 AND EXISTS (SELECT 1 FROM halts WHERE reason = $3)`,
      [operator, chainNonce, toStorable(reason)],
    );
  };
}

import type { Tx } from "../database/transactions/tx.ts";
import { type Lease, NOBODY, validLease } from "./lease.ts";

// Without effect if somebody else has it by now.
export function releaseLease(lease: Lease) {
  const { operator, token } = validLease(lease);
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE operators SET holder = $3, until_at = 0 WHERE operator = $1 AND token = $2", [
      operator,
      token,
      NOBODY,
    ]);
  };
}

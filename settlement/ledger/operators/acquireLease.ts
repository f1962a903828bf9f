import type { Address } from "viem";
import { count } from "../database/decode.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validCount, validName } from "../validate.ts";
import type { Lease } from "./lease.ts";

// A key that is new to a ledger that was restored may not be new at all, and is fenced off like the others.
export const FIRST_FENCE = "-(SELECT COUNT(*) FROM homes WHERE moved = 1)";

// A new or continued lease, or null while somebody else's has not run out, by the database's clock: a daemon whose own is
// wrong takes nobody's lease. The holder of a lease keeps its token when it renews it; everybody else gets a higher one. Of a key
// that was retired nobody gets one, but for the person who looks after what it has left.
export function acquireLease(operator: Address, holder: string, ttlMs: number, evenRetired = false) {
  const account = validAddress("the operator", operator);
  validName("the holder", holder);
  validCount("how long a lease lasts", ttlMs);
  return async (tx: Tx): Promise<Lease | null> => {
    const [row] = await tx.all(
      `INSERT INTO operators (operator, holder, token, until_at, next_nonce, fence)
       VALUES ($1, $2, 1, ${tx.now} + $3, 0, ${FIRST_FENCE})
       ON CONFLICT (operator) DO UPDATE SET
         token = operators.token + CASE WHEN operators.holder = excluded.holder THEN 0 ELSE 1 END,
         holder = excluded.holder,
         until_at = excluded.until_at
       WHERE (operators.holder = excluded.holder OR operators.until_at <= ${tx.now}) AND operators.retired <= $4
       RETURNING token, until_at`,
      [account, holder, ttlMs, evenRetired ? 1 : 0],
    );
    if (row === undefined) return null;
    return { operator: account, holder, token: count(row, "token"), untilMs: count(row, "until_at") };
  };
}

import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName, validTime } from "../validate.ts";
import { answerAt } from "./saveAnswer.ts";

// Gives back a key that was claimed at `atMs` and whose request came to no result, so that the next one under it is judged
// again. Whoever has taken the claim over meanwhile keeps it.
export function releaseKey(caller: string, key: string, atMs: number) {
  validName("the caller", caller);
  validName("the idempotency key", key);
  validTime("the time of the claim", atMs);
  return touching(answerAt(caller, key), async (tx: Tx): Promise<void> => {
    await tx.run("DELETE FROM answers WHERE caller = $1 AND key = $2 AND status IS NULL AND asked_at = $3", [
      caller,
      key,
      atMs,
    ]);
  });
}

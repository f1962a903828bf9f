import type { OtherSubmission, Submission } from "../../domain/batch/submission.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { storeSubmission } from "../submissions/plan/planSubmission.ts";
import { validCount, validTime } from "../validate.ts";
import type { Lease } from "./lease.ts";

// How far the fence of this key reaches, once the chain has been asked. What the chain has spent by then was given out by the
// ledger that this one is a copy of: nobody else need have the key.
export function setFence({ operator }: Lease, nonce: number, chainNonce: number) {
  validCount("the nonce", nonce);
  validCount("the chain's nonce", chainNonce);
  return async (tx: Tx): Promise<void> => {
    await tx.run(
      `UPDATE operators SET fence = $2, next_nonce = CASE WHEN next_nonce < $3 THEN $3 ELSE next_nonce END
       WHERE operator = $1 AND fence <> 0 AND fence < $2`,
      [operator, nonce, chainNonce],
    );
  };
}

// Everything below it is spent for good.
export function removeFence({ operator }: Lease, nonce: number) {
  validCount("the nonce", nonce);
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE operators SET fence = 0 WHERE operator = $1 AND fence = $2", [operator, nonce]);
  };
}

// Puts a filler on a nonce. What was abandoned on it lets go of it: the chain has not spent it after all. So does a batch that
// is final by another transaction than its own, from a ledger that this one is a copy of: nothing else would ever fill it.
export function planFiller(lease: Lease, filler: OtherSubmission & { nonce: number }, nowMs: number) {
  validCount("the nonce", filler.nonce);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Submission> => {
    await tx.run(
      `UPDATE submissions SET nonce = NULL WHERE operator = $1 AND nonce = $2 AND (state = 'abandoned' OR (state = 'final'
         AND NOT EXISTS (SELECT 1 FROM broadcasts b WHERE b.tx_hash = submissions.tx_hash AND b.operator = $1 AND b.nonce = $2)))`,
      [lease.operator, filler.nonce],
    );
    const stored = await storeSubmission(tx, lease, filler, nowMs);
    if (stored.state.kind !== "abandoned") return stored;
    // The filler itself was abandoned before the chain undid what had spent its nonce.
    await tx.run("UPDATE submissions SET nonce = $2, state = 'planned', gas_limit = 0 WHERE id = $1", [
      stored.id,
      filler.nonce,
    ]);
    return storeSubmission(tx, lease, filler, nowMs);
  };
}

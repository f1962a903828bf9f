import type { Hex } from "viem";
import type { Submission } from "../../../domain/batch/submission.ts";
import { count } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validCount } from "../../validate.ts";
import { ownSubmission, requireSubmission, validId } from "../findSubmission.ts";

// Gives the submission the operator's next nonce, unless it has one. Saved before anything is signed, so that a signer that hangs
// or a crash leaves no gap. Until the first bytes are signed the gas limit may still change; the nonce never does. A key that was
// never used here begins with `firstNonce`, because it may have been used elsewhere before. From then on every number is given
// out in its turn: whatever the chain has spent beyond it was spent by somebody else, and is not jumped over.
export function assignNonce(lease: Lease, id: Hex, firstNonce: number, gasLimit: bigint) {
  const wanted = validId(id);
  validCount("the nonce", firstNonce);
  return async (tx: Tx): Promise<Submission> => {
    const submission = await ownSubmission(tx, lease, wanted);
    if (submission.state.kind !== "planned") return submission;
    const nonce = submission.nonce ?? (await takeNonce(tx, lease, firstNonce));
    await tx.run("UPDATE submissions SET nonce = $2, gas_limit = $3 WHERE id = $1", [wanted, nonce, gasLimit]);
    return requireSubmission(tx, wanted);
  };
}

async function takeNonce(tx: Tx, { operator }: Lease, firstNonce: number): Promise<number> {
  const [row] = await tx.all(
    `UPDATE operators SET next_nonce = CASE WHEN next_nonce = 0 THEN $2 ELSE next_nonce END + 1
     WHERE operator = $1
     RETURNING next_nonce`,
    [operator, firstNonce],
  );
  return count(row ?? {}, "next_nonce") - 1;
}

import type { Hex } from "viem";
import type { Submission } from "../../domain/submission.ts";
import { count } from "../decode.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { leasedSubmission, requireSubmission } from "./submissions.ts";

// Until the first bytes are signed the gas limit may still change; the nonce never does.
export async function assignNonce(
  tx: Tx,
  lease: Lease,
  id: Hex,
  chainNonce: number,
  gasLimit: bigint,
): Promise<Submission> {
  const submission = await leasedSubmission(tx, lease, id);
  if (submission.state.kind !== "planned") return submission;
  const nonce = submission.nonce ?? (await takeNonce(tx, lease, chainNonce));
  await tx.run("UPDATE submissions SET nonce = $2, gas_limit = $3 WHERE id = $1", [id, nonce, gasLimit]);
  return requireSubmission(tx, id);
}

async function takeNonce(tx: Tx, { operator }: Lease, chainNonce: number): Promise<number> {
  const [row] = await tx.all(
    `UPDATE operators SET next_nonce = CASE WHEN next_nonce < $2 THEN $2 ELSE next_nonce END + 1
     WHERE operator = $1
     RETURNING next_nonce`,
    [operator, chainNonce],
  );
  return count(row ?? {}, "next_nonce") - 1;
}

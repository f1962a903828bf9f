import type { OtherSubmission, Submission } from "../../../domain/batch/submission.ts";
import { hex } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validAddress, validBytes, validCount, validTime } from "../../validate.ts";
import { requireSubmission, validId } from "../findSubmission.ts";

// A submission other than a batch. The same id again changes nothing. A nonce belongs to one submission: whoever asks for one
// that is taken gets the submission that has it.
export function planSubmission(lease: Lease, { id, kind, to, calldata, nonce }: OtherSubmission, nowMs: number) {
  const valid: OtherSubmission = {
    id: validId(id),
    kind,
    to: validAddress("the recipient", to),
    calldata: validBytes("the calldata", calldata),
    nonce: nonce === null ? null : validCount("the nonce", nonce),
  };
  validTime("now", nowMs);
  return (tx: Tx): Promise<Submission> => storeSubmission(tx, lease, valid, nowMs);
}

export async function storeSubmission(
  tx: Tx,
  { operator }: Lease,
  { id, kind, to, calldata, nonce }: OtherSubmission,
  nowMs: number,
): Promise<Submission> {
  if (nonce !== null) {
    const [owner] = await tx.all("SELECT id FROM submissions WHERE operator = $1 AND nonce = $2", [operator, nonce]);
    if (owner !== undefined) return requireSubmission(tx, hex(owner, "id"));
    await tx.run("UPDATE operators SET next_nonce = $2 WHERE operator = $1 AND next_nonce < $2", [operator, nonce + 1]);
  }
  await tx.run(
    `INSERT INTO submissions (id, kind, operator, nonce, recipient, calldata, gas_limit, created_at, state)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 'planned')
     ON CONFLICT (id) DO NOTHING`,
    [id, kind, operator, nonce, to, calldata, nowMs],
  );
  return requireSubmission(tx, id);
}

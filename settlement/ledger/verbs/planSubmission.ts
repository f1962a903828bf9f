import type { Address, Hex } from "viem";
import type { Submission } from "../../domain/submission.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { lower } from "../validate.ts";
import { requireLease } from "./operators.ts";
import { requireSubmission } from "./submissions.ts";

export type OtherSubmission = { id: Hex; kind: "payout" | "fill"; to: Address; calldata: Hex; nonce: number | null };

// A nonce belongs to one submission: whoever asks for one that is taken gets the submission that has it.
export async function planSubmission(
  tx: Tx,
  lease: Lease,
  { id, kind, to, calldata, nonce }: OtherSubmission,
  nowMs: number,
): Promise<Submission> {
  await requireLease(tx, lease);
  if (nonce !== null) {
    const [owner] = await tx.all("SELECT id FROM submissions WHERE operator = $1 AND nonce = $2", [
      lease.operator,
      nonce,
    ]);
    if (owner !== undefined) return requireSubmission(tx, owner.id as Hex);
    await tx.run("UPDATE operators SET next_nonce = $2 WHERE operator = $1 AND next_nonce < $2", [
      lease.operator,
      nonce + 1,
    ]);
  }
  await tx.run(
    `INSERT INTO submissions (id, kind, operator, nonce, recipient, calldata, gas_limit, created_at, state)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 'planned')
     ON CONFLICT (id) DO NOTHING`,
    [id, kind, lease.operator, nonce, lower(to), calldata, nowMs],
  );
  return requireSubmission(tx, id);
}

import type { Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Broadcast, Submission } from "../../domain/submission.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { leasedSubmission, requireSubmission } from "./submissions.ts";

// The same bytes again change nothing.
export async function saveBroadcast(tx: Tx, lease: Lease, id: Hex, broadcast: Broadcast): Promise<Submission> {
  const { nonce, state } = await leasedSubmission(tx, lease, id);
  if (nonce === null || state.kind === "released") {
    throw new SettlementError("invalid_input", `Submission ${id} has no nonce to sign for.`);
  }
  await tx.run(
    `INSERT INTO broadcasts (tx_hash, submission_id, nonce, position, raw, max_fee_per_gas, max_priority_fee_per_gas,
       signed_at)
     VALUES ($1, $2, $3, (SELECT COUNT(*) FROM broadcasts WHERE submission_id = $2 AND nonce = $3), $4, $5, $6, $7)
     ON CONFLICT (tx_hash) DO NOTHING`,
    [
      broadcast.txHash,
      id,
      nonce,
      broadcast.raw,
      broadcast.maxFeePerGas.toString(),
      broadcast.maxPriorityFeePerGas.toString(),
      broadcast.signedAtMs,
    ],
  );
  await tx.run("UPDATE submissions SET state = 'submitted' WHERE id = $1 AND state = 'planned'", [id]);
  return requireSubmission(tx, id);
}

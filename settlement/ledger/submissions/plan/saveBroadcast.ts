import type { Hex } from "viem";
import type { Broadcast, Submission } from "../../../domain/batch/submission.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validBytes, validHash, validTime } from "../../validate.ts";
import { ownSubmission, requireSubmission, validId } from "../findSubmission.ts";

// Saves signed bytes. Only bytes that were saved are ever sent. The same bytes again change nothing.
export function saveBroadcast(lease: Lease, id: Hex, broadcast: Broadcast) {
  const wanted = validId(id);
  const txHash = validHash("the transaction's hash", broadcast.txHash);
  const raw = validBytes("the signed bytes", broadcast.raw);
  const signedAtMs = validTime("the time of signing", broadcast.signedAtMs);
  return async (tx: Tx): Promise<Submission> => {
    const { nonce, state } = await ownSubmission(tx, lease, wanted);
    if (nonce === null || state.kind === "abandoned") {
      throw new SettlementError("invalid_input", `submission ${wanted} has no nonce to sign for`);
    }
    await tx.run(
      `INSERT INTO broadcasts (tx_hash, submission_id, operator, nonce, position, raw, max_fee_per_gas,
         max_priority_fee_per_gas, signed_at)
       VALUES ($1, $2, $3, $4,
         (SELECT COUNT(*) FROM broadcasts WHERE submission_id = $2 AND operator = $3 AND nonce = $4), $5, $6, $7, $8)
       ON CONFLICT (tx_hash) DO NOTHING`,
      [
        txHash,
        wanted,
        lease.operator,
        nonce,
        raw,
        broadcast.maxFeePerGas.toString(),
        broadcast.maxPriorityFeePerGas.toString(),
        signedAtMs,
      ],
    );
    await tx.run("UPDATE submissions SET state = 'submitted' WHERE id = $1 AND state = 'planned'", [wanted]);
    return requireSubmission(tx, wanted);
  };
}

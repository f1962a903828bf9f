import type { Hex } from "viem";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { ownSubmission, validId } from "../findSubmission.ts";
import { forgetOutcome } from "./recordInclusion.ts";

// A reorg took it out of the chain: it is submitted again.
export function recordLoss(lease: Lease, id: Hex) {
  const wanted = validId(id);
  return async (tx: Tx): Promise<void> => {
    const { state } = await ownSubmission(tx, lease, wanted);
    if (state.kind !== "included" && state.kind !== "reverted") return;
    await forgetOutcome(tx, wanted);
    await tx.run(
      `UPDATE submissions SET state = 'submitted', tx_hash = NULL, block_number = NULL, block_hash = NULL, gas_used = NULL
       WHERE id = $1`,
      [wanted],
    );
  };
}

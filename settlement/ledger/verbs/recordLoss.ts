import type { Hex } from "viem";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { forgetOutcome } from "./recordInclusion.ts";
import { leasedSubmission } from "./submissions.ts";

export async function recordLoss(tx: Tx, lease: Lease, id: Hex): Promise<void> {
  const { state } = await leasedSubmission(tx, lease, id);
  if (state.kind !== "included" && state.kind !== "reverted") return;
  await forgetOutcome(tx, id);
  await tx.run(
    `UPDATE submissions SET state = 'submitted', tx_hash = NULL, block_number = NULL, block_hash = NULL, gas_used = NULL
     WHERE id = $1`,
    [id],
  );
}

import type { Address, Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { forgetOutcome } from "./recordInclusion.ts";
import { leasedSubmission } from "./submissions.ts";
import { OF_BATCH } from "./takenOnChain.ts";

// Again without effect once it is released.
export async function release(tx: Tx, lease: Lease, id: Hex, nowMs: number): Promise<void> {
  const { state } = await leasedSubmission(tx, lease, id);
  if (state.kind === "released") return;
  if (state.kind === "final") {
    throw new SettlementError("drift", `Submission ${id} is final; its charges cannot be due again.`);
  }
  await forgetOutcome(tx, id);
  await freeCharges(tx, id, nowMs);
  await tx.run(
    "UPDATE submissions SET state = 'released', tx_hash = NULL, block_number = NULL, block_hash = NULL WHERE id = $1",
    [id],
  );
}

// They were pending in the batch and stay pending without it.
export async function freeCharges(tx: Tx, root: Hex, dueAtMs: number, account?: Address): Promise<void> {
  const only = account === undefined ? "" : "AND charged_to = $3";
  await tx.run(`UPDATE charges SET state = 'accrued', root = NULL, due_at = $2 WHERE ${OF_BATCH} ${only}`, [
    root,
    dueAtMs,
    ...(account === undefined ? [] : [account]),
  ]);
}

import type { Address, Hex } from "viem";
import { SettlementError } from "../../../domain/errors.ts";
import { address, amount } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validTime } from "../../validate.ts";
import { OF_BATCH } from "../adopt/takenOnChain.ts";
import { ownSubmission, validId } from "../findSubmission.ts";
import { forgetOutcome } from "./recordInclusion.ts";

// Its nonce is spent for good without it: its charges are due again and no attempt is used up. Again without effect once it is
// abandoned.
export function abandon(lease: Lease, id: Hex, nowMs: number) {
  const wanted = validId(id);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<void> => {
    const { state } = await ownSubmission(tx, lease, wanted);
    if (state.kind === "abandoned") return;
    if (state.kind === "final") {
      throw new SettlementError("drift", `submission ${wanted} is final; its charges cannot be due again`);
    }
    await giveUp(tx, wanted, nowMs);
  };
}

export async function giveUp(tx: Tx, id: Hex, nowMs: number): Promise<void> {
  await forgetOutcome(tx, id);
  await freeCharges(tx, id, nowMs);
  await tx.run(
    `UPDATE submissions SET state = 'abandoned', tx_hash = NULL, block_number = NULL, block_hash = NULL, gas_used = NULL
     WHERE id = $1`,
    [id],
  );
}

// They were pending in the batch and stay pending without it.
export async function freeCharges(tx: Tx, batchId: Hex, dueAtMs: number, account?: Address): Promise<void> {
  const only = account === undefined ? "" : "AND charged_to = $3";
  const freed = await tx.all(
    `UPDATE charges SET state = 'accrued', batch_id = NULL, due_at = $2 WHERE ${OF_BATCH} ${only} RETURNING charged_to, amount`,
    [batchId, dueAtMs, ...(account === undefined ? [] : [account])],
  );
  for (const row of freed) tx.due.add(address(row, "charged_to"), { amount: amount(row), dueAtMs });
}

import type { Address, Hex } from "viem";
import { SettlementError } from "../../../domain/errors.ts";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
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

// Some milliseconds.
const FREED_AT_ONCE = 1_000;

// They were pending in the batch and stay pending without it. A batch has thousands, and others run in between.
export async function freeCharges(tx: Tx, batchId: Hex, dueAtMs: number, account?: Address): Promise<void> {
  const only = account === undefined ? "" : "AND charged_to = $3";
  for (;;) {
    const freed = await tx.all(
      `WITH some_of_batch AS MATERIALIZED
         (SELECT accrued_at, id FROM charges WHERE ${OF_BATCH} ${only} LIMIT ${FREED_AT_ONCE})
       UPDATE charges SET state = 'accrued', batch_id = NULL, due_at = $2
       WHERE (accrued_at, id) IN (SELECT accrued_at, id FROM some_of_batch) RETURNING charged_to, amount`,
      [batchId, dueAtMs, ...(account === undefined ? [] : [account])],
    );
    for (const row of freed) tx.due.add(address(row, "charged_to"), { amount: amount(row), dueAtMs });
    if (freed.length < FREED_AT_ONCE) return;
    await letOthersRun();
  }
}

import type { Hex } from "viem";
import type { BatchOutcome } from "../../../domain/batch/batch.ts";
import type { Inclusion } from "../../../domain/batch/submission.ts";
import { SettlementError } from "../../../domain/errors.ts";
import { text } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validHash } from "../../validate.ts";
import { countTaken } from "../adopt/takenOnChain.ts";
import { ownSubmission, validId } from "../findSubmission.ts";
import { outcomeFromJson, outcomeToJson } from "./outcomeJson.ts";

// Mined at head. `outcome` is null for a revert and for anything that is not a batch. May come again, from another block or with
// another outcome: the last one counts. What is final stays so.
export function recordInclusion(
  lease: Lease,
  id: Hex,
  inclusion: Inclusion,
  status: "success" | "reverted",
  outcome: BatchOutcome | null,
) {
  const wanted = validId(id);
  const txHash = validHash("the transaction's hash", inclusion.txHash);
  const blockHash = validHash("the block's hash", inclusion.blockHash);
  const { blockNumber, gasUsed } = inclusion;
  return async (tx: Tx): Promise<void> => {
    const { kind, state } = await ownSubmission(tx, lease, wanted);
    if (state.kind === "final") return;
    if (state.kind === "abandoned") {
      throw new SettlementError(
        "drift",
        `submission ${wanted} was abandoned, and now it is mined in block ${blockNumber}`,
      );
    }
    if (kind === "settle" && (status === "success") !== (outcome !== null)) {
      throw new SettlementError(
        "invalid_input",
        `batch ${wanted} has an outcome if, and only if, it was mined with success`,
      );
    }
    await forgetOutcome(tx, wanted);
    if (kind === "settle" && outcome !== null) {
      await countTaken(tx, wanted, outcome, { kind: "taken", atBlock: blockNumber });
      await tx.run("UPDATE batches SET outcome = $2 WHERE batch_id = $1", [wanted, outcomeToJson(outcome)]);
    }
    await tx.run(
      `UPDATE submissions SET state = $2, tx_hash = $3, block_number = $4, block_hash = $5, gas_used = $6 WHERE id = $1`,
      [wanted, status === "success" ? "included" : "reverted", txHash, blockNumber, blockHash, gasUsed],
    );
  };
}

// What the batch was said to have taken is owed again.
export async function forgetOutcome(tx: Tx, batchId: Hex): Promise<void> {
  const outcome = await readOutcome(tx, batchId);
  if (outcome === null) return;
  await countTaken(tx, batchId, outcomeFromJson(outcome), { kind: "returned" });
  await tx.run("UPDATE batches SET outcome = NULL WHERE batch_id = $1", [batchId]);
}

// As it was written.
export async function readOutcome(tx: Tx, batchId: Hex): Promise<string | null> {
  const [row] = await tx.all("SELECT outcome FROM batches WHERE batch_id = $1 AND outcome IS NOT NULL", [batchId]);
  return row === undefined ? null : text(row, "outcome");
}

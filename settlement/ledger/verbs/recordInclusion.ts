import type { Hex } from "viem";
import type { BatchOutcome } from "../../domain/batch.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Inclusion } from "../../domain/submission.ts";
import { text } from "../decode.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { lower } from "../validate.ts";
import { outcomeFromJson, outcomeToJson } from "./outcomeJson.ts";
import { leasedSubmission } from "./submissions.ts";
import { countTaken } from "./takenOnChain.ts";

// May come again, from another block or with another outcome: the last one counts. What is final stays so.
export async function recordInclusion(
  tx: Tx,
  lease: Lease,
  id: Hex,
  { txHash, blockNumber, blockHash, gasUsed }: Inclusion,
  status: "success" | "reverted",
  outcome: BatchOutcome | null,
): Promise<void> {
  const { kind, state } = await leasedSubmission(tx, lease, id);
  if (state.kind === "final") return;
  if (state.kind === "released") {
    throw new SettlementError("drift", `Submission ${id} was released, and now it is mined in block ${blockNumber}.`);
  }
  if (kind === "settle" && (status === "success") !== (outcome !== null)) {
    throw new SettlementError(
      "invalid_input",
      `Batch ${id} has an outcome if, and only if, it was mined with success.`,
    );
  }
  await forgetOutcome(tx, id);
  if (kind === "settle" && outcome !== null) {
    await countTaken(tx, id, outcome, "taken");
    await tx.run("UPDATE batches SET outcome = $2 WHERE root = $1", [id, outcomeToJson(outcome)]);
  }
  await tx.run(
    `UPDATE submissions SET state = $2, tx_hash = $3, block_number = $4, block_hash = $5, gas_used = $6 WHERE id = $1`,
    [id, status === "success" ? "included" : "reverted", lower(txHash), blockNumber, lower(blockHash), gasUsed],
  );
}

// What the batch was said to have taken is owed again.
export async function forgetOutcome(tx: Tx, root: Hex): Promise<void> {
  const [row] = await tx.all("SELECT outcome FROM batches WHERE root = $1 AND outcome IS NOT NULL", [root]);
  if (row === undefined) return;
  await countTaken(tx, root, outcomeFromJson(text(row, "outcome")), "returned");
  await tx.run("UPDATE batches SET outcome = NULL WHERE root = $1", [root]);
}

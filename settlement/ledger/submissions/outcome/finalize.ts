import type { Hex } from "viem";
import type { BatchOutcome } from "../../../domain/batch/batch.ts";
import type { Inclusion } from "../../../domain/batch/submission.ts";
import { SettlementError } from "../../../domain/errors.ts";
import { sumOf } from "../../../domain/money.ts";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
import { address, amount, count, integer } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { lower, validTime } from "../../validate.ts";
import { countTaken, OF_BATCH } from "../adopt/takenOnChain.ts";
import { ownSubmission, validId } from "../findSubmission.ts";
import { deferCharges } from "./deferCharges.ts";
import { FAILED_COLUMNS, type FailedCharge, failCharges, failedChargeFrom, type RetryPolicy } from "./failCharges.ts";
import { outcomeToJson } from "./outcomeJson.ts";
import { forgetOutcome, readOutcome } from "./recordInclusion.ts";

// Recorded as included, and now below the chain's finalized block: charges become final or absorbed, refused, or due again. Again
// without effect once it is final.
export function finalize(lease: Lease, id: Hex, outcome: BatchOutcome | null, retry: RetryPolicy, nowMs: number) {
  const wanted = validId(id);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<void> => {
    const { kind, state, broadcasts } = await ownSubmission(tx, lease, wanted);
    if (state.kind === "final") return;
    if (state.kind !== "included") {
      throw new SettlementError(
        "drift",
        `submission ${wanted} is to be final, but it is ${state.kind} and not included`,
      );
    }
    if (kind === "settle") {
      if (outcome === null) throw new SettlementError("invalid_input", `batch ${wanted} needs its outcome to be final`);
      await settleCharges(tx, wanted, outcome, retry, state, nowMs);
    }
    // It was signed for its nonce, and something else was mined in its place.
    const isOpen = broadcasts.length > 0 && !broadcasts.some(({ txHash }) => txHash === state.txHash);
    await tx.run("UPDATE submissions SET state = 'final', nonce_open = $2 WHERE id = $1", [wanted, isOpen ? 1 : 0]);
  };
}

// The outcome below the finalized block is the one that counts, whatever was seen at the head.
async function settleCharges(
  tx: Tx,
  batchId: Hex,
  outcome: BatchOutcome,
  retry: RetryPolicy,
  inclusion: Inclusion,
  nowMs: number,
) {
  // Mostly it is the one that was counted at the head, and nothing is counted again.
  if (outcomeToJson(outcome) !== (await readOutcome(tx, batchId))) {
    await forgetOutcome(tx, batchId);
    await countTaken(tx, batchId, outcome, { kind: "taken", atBlock: inclusion.blockNumber });
  }
  await tx.run("UPDATE batches SET outcome = $2, final_at = $3 WHERE batch_id = $1", [
    batchId,
    outcomeToJson(outcome),
    nowMs,
  ]);
  await creditPayees(tx, batchId, outcome, nowMs);

  for (const { chargedTo, toolId, reason } of outcome.refused) {
    if (reason === "earning_cap") {
      await deferCharges(tx, batchId, { chargedTo, toolId }, nowMs + retry.deferMs);
      continue;
    }
    const refused = await tx.all(
      `UPDATE charges SET state = 'refused' WHERE ${OF_BATCH} AND charged_to = $2 AND tool_id = $3
       RETURNING payer, charged_to, amount, cleared`,
      [batchId, lower(chargedTo), lower(toolId)],
    );
    for (const row of refused) {
      tx.count(nowMs, { refused: amount(row) });
      // The platform has not paid for it after all.
      if (row.charged_to !== row.payer && row.cleared === 0n) tx.change(address(row, "payer"), { debt: -amount(row) });
    }
  }
  const failures: FailedCharge[] = [];
  for (const { chargedTo, reason } of outcome.failed) {
    const failed = await tx.all(
      `SELECT ${FAILED_COLUMNS} FROM charges WHERE ${OF_BATCH} AND charged_to = $2 ORDER BY id`,
      [batchId, lower(chargedTo)],
    );
    failures.push(...failed.map((row) => failedChargeFrom(row, reason)));
  }
  // All at once, because tools are locked in their order.
  await failCharges(tx, failures, retry, nowMs);
  // Its thousands of charges are looked through again.
  await letOthersRun();
  await countSettled(tx, batchId, inclusion.gasUsed, nowMs);
}

export async function creditPayees(tx: Tx, batchId: Hex, outcome: BatchOutcome, nowMs: number): Promise<void> {
  for (const payee of new Set(outcome.paid.map(({ payee }) => lower(payee)).sort())) {
    await tx.run("INSERT INTO payees (payee) VALUES ($1) ON CONFLICT DO NOTHING", [payee]);
  }
  for (const { toolId, payee, amount: earned, developerShare } of outcome.paid) {
    await tx.run(
      `INSERT INTO earnings (payee, settled_at, batch_id, tool_id, amount, developer_share)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [lower(payee), nowMs, batchId, lower(toolId), earned, developerShare],
    );
  }
}

// What is left of the batch, for the running sums, and what each payer has paid for good. It is looked through once for both.
async function countSettled(tx: Tx, batchId: Hex, gasUsed: bigint, nowMs: number): Promise<void> {
  const rows = await tx.all(
    `SELECT payer, CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END AS ending, COUNT(*) AS charges,
       CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(accrued_at) AS BIGINT) AS accrued_at
     FROM charges WHERE ${OF_BATCH}
     GROUP BY payer, CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END`,
    [batchId],
  );
  for (const ending of ["settled", "absorbed"] as const) {
    const ended = rows.filter((row) => row.ending === ending);
    const charges = ended.reduce((sum, row) => sum + count(row, "charges"), 0);
    const accruedAtMs = ended.reduce((sum, row) => sum + integer(row, "accrued_at"), 0n);
    const latencyMs = BigInt(charges) * BigInt(nowMs) - accruedAtMs;
    tx.count(nowMs, { [ending]: sumOf(ended.map((row) => amount(row))) });
    // A clock that was set back gives no time below none.
    tx.count(nowMs, { settledCharges: charges, latencyMs: latencyMs > 0n ? latencyMs : 0n });
  }
  for (const row of rows) {
    if (row.ending === "settled") tx.change(address(row, "payer"), { settled: amount(row) });
  }
  tx.count(nowMs, { gasUsed });
}

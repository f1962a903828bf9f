import { z } from "zod";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import { formatUsd } from "../../domain/money.ts";
import { uuidFromToolId } from "../../domain/toolId.ts";
import type { SettledBatch } from "../../ledger/ledger.ts";
import { failureReason } from "../charge.ts";
import { address, count, digits, hash, time, timeOf, timeOrNull, toolId, usd } from "../shapes.ts";

const outcomeSchema = z.object({
  chargedUsd: usd,
  treasuryShareUsd: usd,
  failed: z.array(z.object({ chargedTo: address, amountUsd: usd, reason: failureReason })),
  refused: z.array(z.object({ chargedTo: address, toolId, amountUsd: usd })),
  paid: z.array(z.object({ toolId, payee: address, amountUsd: usd, developerShareUsd: usd })),
});

export const batchSchema = z
  .object({
    batchId: hash,
    operator: address,
    state: z.enum(["planned", "submitted", "included", "reverted", "final", "abandoned"]),
    rows: count,
    charges: count,
    totalUsd: usd,
    txHash: hash.nullable(),
    blockNumber: digits.nullable(),
    gasUsed: digits.nullable(),
    createdAt: time,
    finalAt: time.nullable(),
    // What the logs of its transaction say; null until there is one.
    outcome: outcomeSchema.nullable(),
  })
  .meta({ id: "Batch" });

export const batchDetailSchema = batchSchema
  .extend({ nonce: count.nullable(), txHashes: z.array(hash) })
  .meta({ id: "BatchDetail" });

export type BatchView = z.infer<typeof batchSchema>;
export type BatchDetail = z.infer<typeof batchDetailSchema>;

export function batchView(batch: SettledBatch): BatchView {
  return {
    batchId: batch.batchId,
    operator: batch.operator,
    state: batch.state,
    rows: batch.rows,
    charges: batch.charges,
    totalUsd: formatUsd(batch.total),
    txHash: batch.inclusion?.txHash ?? null,
    blockNumber: batch.inclusion?.blockNumber.toString() ?? null,
    gasUsed: batch.inclusion?.gasUsed.toString() ?? null,
    createdAt: timeOf(batch.createdAtMs),
    finalAt: timeOrNull(batch.finalAtMs),
    outcome: batch.outcome === null ? null : outcomeView(batch.outcome),
  };
}

function outcomeView({ charged, treasuryShare, failed, refused, paid }: BatchOutcome): z.infer<typeof outcomeSchema> {
  return {
    chargedUsd: formatUsd(charged),
    treasuryShareUsd: formatUsd(treasuryShare),
    failed: failed.map(({ chargedTo, amount, reason }) => ({ chargedTo, amountUsd: formatUsd(amount), reason })),
    refused: refused.map(({ chargedTo, toolId, amount }) => ({
      chargedTo,
      toolId: uuidFromToolId(toolId),
      amountUsd: formatUsd(amount),
    })),
    paid: paid.map(({ toolId, payee, amount, developerShare }) => ({
      toolId: uuidFromToolId(toolId),
      payee,
      amountUsd: formatUsd(amount),
      developerShareUsd: formatUsd(developerShare),
    })),
  };
}

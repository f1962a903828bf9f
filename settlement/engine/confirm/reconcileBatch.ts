import type { Address } from "viem";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { splitRevenue } from "../../domain/split.ts";
import type { ToolId } from "../../domain/toolId.ts";

// Compares what the chain logged for a batch with what the batch asked for, line by line. Returns the first difference
// in words, or null. What failed or was refused may be missing; nothing else may be, and nothing may be there twice.
export function reconcileBatch(submission: Submission, outcome: BatchOutcome | null): string | null {
  if (submission.kind !== "settle") return null;
  if (outcome === null) return "the transaction has no BatchSettled event for it";
  const { batchId, toolIds, rows } = decodeSettle(submission.calldata);
  if (batchId !== submission.id) return `its calldata settles ${batchId}`;

  const failed = new Set(outcome.failed.map(({ chargedTo }) => key(chargedTo)));
  const refused = new Set(outcome.refused.map(({ chargedTo, toolId }) => key(chargedTo, toolId)));
  const earned = new Map<ToolId, bigint>();
  let charged = 0n;
  let treasuryShare = 0n;
  for (const { payer, modelCost, lines } of rows) {
    if (failed.has(key(payer))) continue;
    charged += modelCost;
    treasuryShare += modelCost;
    for (const { toolIndex, amount } of lines) {
      const toolId = toolIds[toolIndex] as ToolId;
      if (refused.has(key(payer, toolId))) continue;
      charged += amount;
      earned.set(toolId, (earned.get(toolId) ?? 0n) + amount);
    }
  }

  for (const { toolId, amount, developerShare } of outcome.paid) {
    const expected = earned.get(toolId) ?? 0n;
    if (amount !== expected) return `tool ${toolId} earned ${amount} on chain and ${expected} in the ledger`;
    const share = splitRevenue(expected);
    if (developerShare !== share.developerShare) return `tool ${toolId}'s share is ${developerShare} on chain`;
    treasuryShare += share.protocolShare;
    earned.delete(toolId);
  }
  const [unpaid] = earned;
  if (unpaid !== undefined) return `tool ${unpaid[0]} earned nothing on chain and ${unpaid[1]} in the ledger`;
  if (outcome.charged !== charged) return `${outcome.charged} was charged on chain and ${charged} in the ledger`;
  if (outcome.treasuryShare !== treasuryShare) {
    return `the treasury earned ${outcome.treasuryShare} on chain and ${treasuryShare} in the ledger`;
  }
  return null;
}

const key = (account: Address, toolId = "") => `${account.toLowerCase()} ${toolId}`;

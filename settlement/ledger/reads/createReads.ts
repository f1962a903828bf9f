import type { Runner } from "../database/transactions/createRunner.ts";
import { audit } from "./audit.ts";
import { findBatch, listAccounts, listBatches, listReceipts, readFinalBatches } from "./batches.ts";
import {
  findBatchedCharge,
  findDueCharge,
  listChargesOf,
  listChargesOfPayer,
  listChargesOfRow,
  listFailures,
  listNewestCharges,
} from "./charges.ts";
import { findToolEarnings, listEarnings, listPayees, listToolEarnings } from "./earnings.ts";
import { readBacklog } from "./readBacklog.ts";
import { readGauges } from "./readGauges.ts";
import { forgetStats, readTimeline } from "./readTimeline.ts";
import { readSettledByAccount, readSettledByTool, readTotals } from "./totals.ts";

export type Reads = ReturnType<typeof createReads>;

// For people, statements, proofs and audits.
export function createReads({ alone, read, snapshot }: Runner) {
  return {
    findBatchedCharge: read(findBatchedCharge),
    findDueCharge: snapshot(findDueCharge),
    listChargesOf: read(listChargesOf),
    listChargesOfPayer: read(listChargesOfPayer),
    // As many as a batch has.
    listChargesOfRow: snapshot(listChargesOfRow),
    listNewestCharges: read(listNewestCharges),
    listFailures: read(listFailures),
    findBatch: read(findBatch),
    listBatches: read(listBatches),
    listReceipts: snapshot(listReceipts),
    listAccounts: read(listAccounts),
    readFinalBatches: snapshot(readFinalBatches),
    listPayees: read(listPayees),
    listEarnings: read(listEarnings),
    // They add up all batches of a tool.
    listToolEarnings: snapshot(listToolEarnings),
    findToolEarnings: snapshot(findToolEarnings),
    readTotals: read(readTotals),
    readSettledByTool: read(readSettledByTool),
    readSettledByAccount: read(readSettledByAccount),
    readTimeline: read(readTimeline),
    forgetStats: alone(forgetStats),
    readGauges: read(readGauges),
    readBacklog: read(readBacklog),
    audit: snapshot(audit),
  };
}

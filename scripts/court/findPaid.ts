import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { CommandError } from "../command/CommandError.ts";
import type { Deployment } from "../command/openDeployment.ts";
import type { Session } from "../command/session.ts";
import { findRows, type Settlement } from "../receipts/findRows.ts";
import { createKeptReceipts } from "../receipts/keptReceipts.ts";
import { isInBatch, leavesOf, type Receipt } from "../receipts/receipts.ts";

// That a call was paid, as the courts want it shown.
export type PaidCall = { settlement: Settlement; receipt: Receipt; path: string[] };

// Looks for the receipt of a call among those that `watch --receipts` has kept, and for the batch that it was paid in on the chain.
export async function findPaid(
  session: Session,
  deployment: Deployment,
  folder: string,
  { toolId, chargeId }: { toolId: string; chargeId: string },
): Promise<PaidCall> {
  const domain = { chainId: session.chainId, router: deployment.addresses.router };
  const kept = createKeptReceipts(folder);
  for (const batchId of batchIdsIn(folder)) {
    const answer = kept.read(batchId);
    const leaf = (answer === null ? [] : leavesOf(domain, answer)).find(
      (one) => one.receipt.chargeId === chargeId && one.receipt.toolId === toolId && isInBatch(batchId, one),
    );
    if (leaf === undefined) continue;
    const { receipt, path } = leaf;
    const fromBlock = deployment.record.contracts.router.block;
    const { rows } = await findRows(session, deployment, { payer: receipt.chargedTo, fromBlock, known: new Map() });
    const row = rows.find((candidate) => candidate.batchId === batchId);
    if (row !== undefined) return { settlement: row.settlement, receipt, path };
  }
  throw new CommandError(`no receipt in ${folder} says that charge ${chargeId} was paid: watch --receipts keeps them`);
}

const batchIdsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^0x[0-9a-f]{64}\.json$/.test(name))
        .map((name) => basename(name, ".json"))
    : [];

import { type Address, bytesToHex, type Hex } from "viem";
import type { Chain } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { ContestedLine } from "../../domain/batch/contest.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { Charge } from "../../domain/charges/charge.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { type MerkleTree, treeInSteps } from "../batch/merkleTree.ts";
import { leafOf, NO_TOOL, type Receipt, type ReceiptDomain, receiptOf } from "../batch/receipt.ts";

// What an account was charged for in a batch, with all that its receipts are proven with.
export type ReceiptsOfRow = {
  account: Address;
  domain: ReceiptDomain;
  submission: Submission;
  // Which row of the batch it is, and what the row asks for: first for the model, then its lines.
  row: number;
  lines: readonly ContestedLine[];
  // In ascending order of their leaves.
  receipts: readonly (Receipt & { leaf: Hex })[];
  tree: MerkleTree;
};

// The receipts of one account in a batch, from the ledger or its archive. Null if there are none: the batch is somebody else's, or
// was taken in from the chain, or the account is not charged in it. Only receipts that are leaves of the batch count, so that all
// of them can be shown. A batch has ten thousand charges, and everybody in it may ask: it is done in steps, between which others run.
export async function receiptsOf(
  ledger: Ledger,
  chain: Pick<Chain, "chainId">,
  batchId: Hex,
  account: Address,
): Promise<ReceiptsOfRow | null> {
  const submission = await ledger.findSubmission(batchId);
  if (submission?.kind !== "settle") return null;
  // Of the batch, and not of today's configuration: it may have been settled by an earlier router.
  const domain = { chainId: chain.chainId, router: submission.to };
  // First, because everything else looks at all charges of the batch, and anybody may ask for any batch.
  const { rows, toolIds } = decodeSettle(submission.calldata);
  const row = rows.findIndex(({ payer }) => payer.toLowerCase() === account.toLowerCase());
  const asked = rows[row];
  if (asked === undefined) return null;
  const charges = await ledger.listChargesOfRow(batchId, account);
  if (charges.length === 0) return null;
  const stored = await ledger.listReceipts(batchId);
  const leaves = new Map(stored.map(({ chargeId, leaf }) => [chargeId, leaf]));
  const receipts = (await receiptsInSteps(domain, charges))
    .filter(({ chargeId, leaf }) => leaves.get(chargeId) === leaf)
    .sort((one, other) => (one.leaf < other.leaf ? -1 : 1));
  if (receipts.length === 0) return null;
  const lines = [
    { toolId: NO_TOOL, amount: asked.modelCost },
    ...asked.lines.map(({ toolIndex, amount }) => ({ toolId: toolIds[toolIndex] ?? NO_TOOL, amount })),
  ];
  const tree = await treeInSteps(stored.map(({ leaf }) => Buffer.from(leaf.slice(2), "hex")));
  return { account: account.toLowerCase() as Address, domain, submission, row, lines, receipts, tree };
}

const CHARGES_AT_ONCE = 1_000;

async function receiptsInSteps(
  domain: ReceiptDomain,
  charges: readonly Charge[],
): Promise<(Receipt & { leaf: Hex })[]> {
  const receipts: (Receipt & { leaf: Hex })[] = [];
  for (const charge of charges) {
    if (receipts.length % CHARGES_AT_ONCE === CHARGES_AT_ONCE - 1) await letOthersRun();
    receipts.push({ ...receiptOf(charge), leaf: bytesToHex(leafOf(domain, charge)) });
  }
  return receipts;
}

// Which line each receipt is for: of its tool, and with room for it. Null for one that no line has room for.
export function placesOf(lines: readonly ContestedLine[], receipts: readonly Receipt[]): (number | null)[] {
  const left = lines.map(({ amount }) => amount);
  return receipts.map(({ toolId, amount }) => {
    const place = lines.findIndex((line, i) => line.toolId === toolId && (left[i] ?? 0n) >= amount);
    if (place < 0) return null;
    left[place] = (left[place] ?? 0n) - amount;
    return place;
  });
}

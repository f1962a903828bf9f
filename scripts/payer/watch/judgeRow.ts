import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import type { PaidRow } from "../../receipts/findRows.ts";
import { isInBatch, type Leaf } from "../../receipts/receipts.ts";

// What is wrong with a row: whether the court would give it back, and why.
export type Finding = { sentence: string; contestable: boolean };

export type Judged = { findings: Finding[]; leaves: Leaf[] };

const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;
const NO_TOOL = `0x${"0".repeat(32)}`;

const nameOf = (toolId: string) => (toolId === NO_TOOL ? "the model" : `tool ${uuidFromToolId(toolId as never)}`);

// Compares what a payer paid in a batch with the receipts that are shown for it. Only receipts of this payer in this batch count,
// each once; they must add up to what was paid for each tool, to the unit.
export function judgeRow(
  { batchId, lines }: PaidRow,
  payer: string,
  shown: readonly Leaf[],
  insurance: string,
): Judged {
  const findings: Finding[] = [];
  const wrong = (sentence: string, contestable = true) => findings.push({ sentence, contestable });
  const good = new Map<string, Leaf>();
  for (const candidate of shown) {
    const { receipt, leaf } = candidate;
    const charge = `the receipt of charge ${receipt.chargeId}`;
    if (!isSame(receipt.chargedTo, payer)) wrong(`${charge} is of ${receipt.chargedTo}`);
    else if (!isInBatch(batchId, candidate)) wrong(`${charge} is not in the batch`);
    else if (good.has(leaf)) wrong(`${charge} is shown twice`);
    else good.set(leaf, candidate);
  }
  const paid = sumsOf(lines);
  const leaves = [...good.values()].filter(({ receipt }) => (paid.get(receipt.toolId) ?? 0n) > 0n);
  const receipted = sumsOf(leaves.map(({ receipt }) => receipt));
  for (const [toolId, amount] of paid) {
    const sum = receipted.get(toolId) ?? 0n;
    if (sum !== amount)
      wrong(`${usd(amount)} were charged for ${nameOf(toolId)}, and the receipts are for ${usd(sum)}`);
  }
  for (const { receipt } of leaves) {
    // The insurance account pays for others, and nobody else does.
    if (isSame(receipt.payer, payer) || isSame(payer, insurance)) continue;
    wrong(`charge ${receipt.chargeId} is owed by ${receipt.payer}`, false);
  }
  return { findings, leaves };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function sumsOf(items: readonly { toolId: string; amount: bigint }[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { toolId, amount } of items) {
    if (amount > 0n) sums.set(toolId, (sums.get(toolId) ?? 0n) + amount);
  }
  return sums;
}

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

// More sums of receipts than this are not tried.
const MAX_TRIED = 200_000;

// Compares what a payer paid in a batch with the receipts that are shown for it. Only receipts of this payer in this batch count,
// each once, and only those that a line has room for, because the court hears no others; they must add up to what was paid for each
// tool, to the unit. What the sums do not show is told and not contested: the operator would answer with the receipts that fit.
export function judgeRow(
  { batchId, lines }: PaidRow,
  payer: string,
  shown: readonly Leaf[],
  insurance: string,
): Judged {
  const findings: Finding[] = [];
  const wrong = (sentence: string, contestable = false) => findings.push({ sentence, contestable });
  const good = new Map<string, Leaf>();
  for (const candidate of shown) {
    const { receipt, leaf } = candidate;
    const charge = `the receipt of charge ${receipt.chargeId}`;
    if (!isSame(receipt.chargedTo, payer)) wrong(`${charge} is of ${receipt.chargedTo}`);
    else if (!isInBatch(batchId, candidate)) wrong(`${charge} is not in the batch`);
    else if (good.has(leaf)) wrong(`${charge} is shown twice`);
    else good.set(leaf, candidate);
  }
  const leaves = [...good.values()].filter(({ receipt: { toolId, amount } }) =>
    lines.some((line) => amount > 0n && line.toolId === toolId && line.amount >= amount),
  );
  const receipted = amountsOf(leaves.map(({ receipt }) => receipt));
  for (const [toolId, charged] of amountsOf(lines)) {
    const amount = sumOf(charged);
    const amounts = receipted.get(toolId) ?? [];
    const sum = sumOf(amounts);
    if (sum === amount) continue;
    wrong(
      `${usd(amount)} were charged for ${nameOf(toolId)}, and the receipts are for ${usd(sum)}`,
      !canAddUp(amounts, amount),
    );
  }
  for (const { receipt } of leaves) {
    // The insurance account pays for others, and nobody else does.
    if (isSame(receipt.payer, payer) || isSame(payer, insurance)) continue;
    wrong(`charge ${receipt.chargeId} is owed by ${receipt.payer}`);
  }
  return { findings, leaves };
}

// Whether an operator could show some of the receipts that add up to `total`. Where trying would take too long it could, for all
// that is known.
function canAddUp(amounts: readonly bigint[], total: bigint): boolean {
  if (sumOf(amounts) < total) return false;
  const sums = new Set([0n]);
  let tried = 0;
  for (const amount of amounts) {
    tried += sums.size;
    if (tried > MAX_TRIED) return true;
    for (const sum of [...sums]) if (sum + amount <= total) sums.add(sum + amount);
    if (sums.has(total)) return true;
  }
  return false;
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

function amountsOf(items: readonly { toolId: string; amount: bigint }[]): Map<string, bigint[]> {
  const charged = Map.groupBy(
    items.filter(({ amount }) => amount > 0n),
    ({ toolId }) => toolId,
  );
  return new Map([...charged].map(([toolId, list]) => [toolId, list.map(({ amount }) => amount)]));
}

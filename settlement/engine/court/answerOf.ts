import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, size } from "viem";
import { receiptCourtAbi } from "../../chain/router/abi.ts";
import type { AnswerProgress, Contest, ContestedLine } from "../../domain/batch/contest.ts";
import { NO_HASH } from "../../domain/charges/charge.ts";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import { placesOf, type ReceiptsOfRow } from "./receiptsOf.ts";

export type Answer =
  | { kind: "answer"; calldata: Hex; receipts: number }
  // The receipts that there are do not add up to what was charged.
  | { kind: "no_receipts"; reason: string };

// How much one answer shows. A node takes transactions of up to 128 KiB.
export type AnswerBounds = { maxReceipts: number; maxBytes: number };

// The next answer to a contest. What was shown is a part of the receipts from the first on, in the order of their leaves, because the
// court takes them in no other. If the chain knows of another part, somebody else has used the key, and left out what cannot be shown
// afterwards: then all is shown again from the first on, which the court takes as a new beginning.
export function answerOf(
  { batchId, account, lines, charged }: Pick<Contest, "batchId" | "account" | "lines" | "charged">,
  progress: AnswerProgress,
  row: ReceiptsOfRow | null,
  { maxReceipts, maxBytes }: AnswerBounds,
): Answer {
  if (row === null) return without("the ledger has no receipts for it");
  const places = placesOf(lines, row.receipts);
  const shown = row.receipts.flatMap((receipt, i) => {
    const place = places[i] ?? null;
    // A line that was refused was not charged, and its receipts prove nothing.
    return place === null ? [] : [{ ...receipt, place }];
  });
  const total = shown.reduce((sum, { amount }) => sum + amount, 0n);
  if (total !== charged) {
    return without(`its receipts come to ${usd(total)} of the ${usd(charged)} that were charged`);
  }

  const before = shown.findIndex(({ leaf }) => leaf === progress.lastLeaf) + 1;
  const rest = linesWithout(lines, shown.slice(0, before));
  const goesOn = hashLines(rest) === progress.linesHash;
  const [first, left] = goesOn ? [before, rest] : [0, lines];

  const { tree } = row;
  for (let count = Math.min(maxReceipts, shown.length - first); count > 0; count = Math.floor(count / 2)) {
    const part = shown.slice(first, first + count);
    const { proof, proofFlags } = tree.multiProofOf(part.map(({ leaf }) => leaf));
    const answer = {
      lines: left,
      receipts: part,
      places: part.map(({ place }) => place),
      proof,
      proofFlags,
    };
    const calldata = encodeFunctionData({
      abi: receiptCourtAbi,
      functionName: "answer",
      args: [batchId, account, answer],
    });
    if (size(calldata) <= maxBytes) return { kind: "answer", calldata, receipts: count };
  }
  return without("none of its receipts fits into a transaction");
}

// All answers to a contest, in their order, as an account shows them that has shown nothing yet. The ledger's own key is not needed for
// any: whoever sends them, the deposit is the operator's.
export function answersOf(
  contest: Pick<Contest, "batchId" | "account" | "lines" | "charged">,
  row: ReceiptsOfRow | null,
  bounds: AnswerBounds,
): { kind: "answers"; calls: Hex[] } | Extract<Answer, { kind: "no_receipts" }> {
  const places = placesOf(contest.lines, row?.receipts ?? []);
  const shown = (row?.receipts ?? []).flatMap((receipt, i) => ({ ...receipt, place: places[i] ?? -1 }));
  const counted = shown.filter(({ place }) => place >= 0);
  const calls: Hex[] = [];
  for (let count = 0; ; ) {
    const linesHash = hashLines(linesWithout(contest.lines, counted.slice(0, count)));
    const progress = { linesHash, lastLeaf: counted[count - 1]?.leaf ?? NO_HASH };
    const next = answerOf(contest, progress, row, bounds);
    if (next.kind === "no_receipts") return next;
    calls.push(next.calldata);
    count += next.receipts;
    if (count >= counted.length) return { kind: "answers", calls };
  }
}

const linesWithout = (lines: readonly ContestedLine[], shown: readonly { place: number; amount: bigint }[]) =>
  lines.map(({ toolId, amount }, i) => ({
    toolId,
    amount: shown.reduce((left, receipt) => (receipt.place === i ? left - receipt.amount : left), amount),
  }));

const LINES = [
  {
    type: "tuple[]",
    components: [
      { name: "toolId", type: "bytes16" },
      { name: "amount", type: "uint256" },
    ],
  },
] as const;

// As the court does it.
export const hashLines = (lines: readonly ContestedLine[]): Hex => keccak256(encodeAbiParameters(LINES, [lines]));

const without = (reason: string): Answer => ({ kind: "no_receipts", reason });
const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;

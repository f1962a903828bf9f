import { encodeFunctionData, type Hex, size } from "viem";
import { receiptCourtAbi } from "../../chain/router/abi.ts";
import type { Contest } from "../../domain/contest.ts";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import { placesOf, type ReceiptsOfRow } from "./receiptsOf.ts";

export type Answer =
  | { kind: "answer"; calldata: Hex; receipts: number }
  // The receipts that there are do not add up to what was charged.
  | { kind: "no_receipts"; reason: string };

// How much one answer shows. A node takes transactions of up to 128 KiB.
export type AnswerBounds = { maxReceipts: number; maxBytes: number };

// The next answer to a contest of which `open` is still to be shown. What was shown is a part of the receipts from the first on, in
// the order of their leaves, because the court takes them in no other; `open` says how long a part.
export function answerOf(
  { root, account, lines, charged }: Pick<Contest, "root" | "account" | "lines" | "charged">,
  open: bigint,
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

  const left = lines.map(({ amount }) => amount);
  let first = 0;
  for (let sum = charged; sum > open && first < shown.length; first += 1) {
    const { place, amount } = shown[first] as (typeof shown)[number];
    left[place] = (left[place] ?? 0n) - amount;
    sum -= amount;
  }
  if (left.reduce((sum, amount) => sum + amount, 0n) !== open) {
    return without(`${usd(open)} are open of it, and somebody has shown other receipts first`);
  }

  const { tree } = row;
  for (let count = Math.min(maxReceipts, shown.length - first); count > 0; count = Math.floor(count / 2)) {
    const part = shown.slice(first, first + count);
    const { proof, proofFlags } = tree.multiProofOf(part.map(({ leaf }) => leaf));
    const answer = {
      lines: lines.map(({ toolId }, i) => ({ toolId, amount: left[i] ?? 0n })),
      receipts: part,
      places: part.map(({ place }) => place),
      proof,
      proofFlags,
    };
    const calldata = encodeFunctionData({
      abi: receiptCourtAbi,
      functionName: "answer",
      args: [root, account, answer],
    });
    if (size(calldata) <= maxBytes) return { kind: "answer", calldata, receipts: count };
  }
  return without("none of its receipts fits into a transaction");
}

const without = (reason: string): Answer => ({ kind: "no_receipts", reason });
const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;

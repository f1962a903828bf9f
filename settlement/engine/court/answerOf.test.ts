import { decodeFunctionData, type Hex, hexToBytes, padHex, size, toHex } from "viem";
import { describe, expect, it } from "vitest";
import { receiptCourtAbi } from "../../chain/router/abi.ts";
import type { AnswerProgress, Contest, ContestedLine } from "../../domain/batch/contest.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { createMerkleTree } from "../batch/merkleTree.ts";
import { NO_TOOL, type Receipt } from "../batch/receipt.ts";
import { answerOf, answersOf, hashLines } from "./answerOf.ts";
import type { ReceiptsOfRow } from "./receiptsOf.ts";

const ROOT = padHex("0xaa", { size: 32 });
const PAYER = padHex("0xbb", { size: 20 });
const NO_HASH = padHex("0x", { size: 32 });
const [FIRST, SECOND] = [padHex("0x01", { size: 16 }), padHex("0x02", { size: 16 })] as const;
const BOUNDS = { maxReceipts: 100, maxBytes: 100_000 };

// In the order of their leaves.
const PAID: readonly (readonly [toolId: Hex, amount: bigint])[] = [
  [FIRST, 5n],
  [NO_TOOL, 3n],
  [SECOND, 7n],
  [FIRST, 2n],
];
const LINES: readonly ContestedLine[] = [
  { toolId: NO_TOOL, amount: 3n },
  { toolId: FIRST, amount: 7n },
  { toolId: SECOND, amount: 7n },
];
const NOTHING_SHOWN: AnswerProgress = { linesHash: NO_HASH, lastLeaf: NO_HASH };
const CONTEST = { batchId: ROOT, account: PAYER, lines: LINES, charged: 17n };

function rowOf(paid = PAID): ReceiptsOfRow {
  const receipts = paid.map(([toolId, amount], i): Receipt & { leaf: Hex } => ({
    chargeId: padHex(toHex(i + 1), { size: 32 }),
    payer: PAYER,
    chargedTo: PAYER,
    toolId,
    amount,
    calls: 1n,
    accruedAtMs: 0n,
    attempts: 0n,
    request: NO_HASH,
    response: NO_HASH,
    schema: NO_HASH,
    leaf: padHex(toHex(16 * (i + 1)), { size: 32 }),
  }));
  const others = [1, 17, 40].map((n) => hexToBytes(padHex(toHex(n), { size: 32 })));
  const tree = createMerkleTree([...receipts.map(({ leaf }) => hexToBytes(leaf)), ...others]);
  const domain = { chainId: 1, router: PAYER };
  return { account: PAYER, domain, submission: {} as Submission, row: 0, lines: LINES, receipts, tree };
}

function decoded(
  contest: Omit<Contest, "operator" | "contester" | "untilMs" | "blockNumber">,
  progress = NOTHING_SHOWN,
  bounds = BOUNDS,
) {
  const answer = answerOf(contest, progress, rowOf(), bounds);
  if (answer.kind !== "answer") throw new Error(answer.reason);
  expect(size(answer.calldata)).toBeLessThanOrEqual(bounds.maxBytes);
  const { args } = decodeFunctionData({ abi: receiptCourtAbi, data: answer.calldata });
  return { batchId: args[0], account: args[1], ...(args[2] as unknown as Answer) };
}
const shownUpTo = (last: number, left: readonly bigint[]): AnswerProgress => ({
  linesHash: hashLines(LINES.map(({ toolId }, i) => ({ toolId, amount: left[i] ?? 0n }))),
  lastLeaf: padHex(toHex(16 * (last + 1)), { size: 32 }),
});

type Answer = { lines: ContestedLine[]; receipts: Receipt[]; places: number[]; proof: Hex[]; proofFlags: boolean[] };

describe("an answer", () => {
  it("shows every receipt of the row for its line, in the order of their leaves", () => {
    const { lines, receipts, places, ...answer } = decoded(CONTEST);
    expect(answer).toMatchObject({ batchId: ROOT, account: expect.stringMatching(new RegExp(PAYER, "i")) });
    expect(lines).toEqual(LINES);
    expect(receipts.map(({ toolId, amount }) => [toolId, amount])).toEqual(PAID);
    expect(places).toEqual([1, 0, 2, 1]);
    const multi = rowOf().tree.multiProofOf(rowOf().receipts.map(({ leaf }) => leaf));
    expect(answer).toMatchObject({ proof: multi.proof, proofFlags: multi.proofFlags });
  });

  it("goes on where the last one ended, with what is left of each line", () => {
    const first = decoded(CONTEST, NOTHING_SHOWN, { ...BOUNDS, maxReceipts: 2 });
    expect(first.places).toEqual([1, 0]);
    const second = decoded(CONTEST, shownUpTo(1, [0n, 2n, 7n]), { ...BOUNDS, maxReceipts: 2 });
    expect(second.lines.map(({ amount }) => amount)).toEqual([0n, 2n, 7n]);
    expect(second.receipts.map(({ amount }) => amount)).toEqual([7n, 2n]);
    expect(second.places).toEqual([2, 1]);
  });

  it("is as small as it must be", () => {
    const whole = answerOf(CONTEST, NOTHING_SHOWN, rowOf(), BOUNDS);
    expect(whole).toMatchObject({ receipts: 4 });
    const bytes = whole.kind === "answer" ? size(whole.calldata) : 0;
    expect(answerOf(CONTEST, NOTHING_SHOWN, rowOf(), { ...BOUNDS, maxBytes: bytes })).toMatchObject({ receipts: 4 });
    expect(answerOf(CONTEST, NOTHING_SHOWN, rowOf(), { ...BOUNDS, maxBytes: bytes - 1 })).toMatchObject({
      receipts: 2,
    });
    expect(answerOf(CONTEST, NOTHING_SHOWN, rowOf(), { ...BOUNDS, maxBytes: 100 })).toMatchObject({
      kind: "no_receipts",
    });
  });

  it("leaves out what the chain has refused to charge", () => {
    const [model, , second] = LINES as [ContestedLine, ContestedLine, ContestedLine];
    const refused = { ...CONTEST, charged: 10n, lines: [model, { toolId: NO_TOOL, amount: 0n }, second] };
    const { receipts, places } = decoded(refused);
    expect(receipts.map(({ toolId }) => toolId)).toEqual([NO_TOOL, SECOND]);
    expect(places).toEqual([0, 2]);
  });

  it.each([
    ["without receipts", null, CONTEST],
    ["with too few", rowOf(PAID.slice(1)), CONTEST],
    ["for another tool", rowOf(PAID.map(([, amount]) => [SECOND, amount])), CONTEST],
    ["for more than was charged", rowOf(), { ...CONTEST, charged: 18n }],
  ])("%s is none", (_, row, contest) => {
    const answer = answerOf(contest, NOTHING_SHOWN, row, BOUNDS);
    expect(answer).toMatchObject({ kind: "no_receipts", reason: expect.any(String) });
  });

  it("is known in all its parts beforehand, for an account that has shown nothing", () => {
    const bounds = { ...BOUNDS, maxReceipts: 3 };
    const answers = answersOf(CONTEST, rowOf(), bounds);
    const next = [NOTHING_SHOWN, shownUpTo(2, [0n, 2n, 0n])].map((progress) =>
      answerOf(CONTEST, progress, rowOf(), bounds),
    );
    expect(answers).toEqual({ kind: "answers", calls: next.map((answer) => "calldata" in answer && answer.calldata) });
    expect(answersOf(CONTEST, rowOf(PAID.slice(1)), bounds)).toMatchObject({ kind: "no_receipts" });
    expect(answersOf(CONTEST, null, bounds)).toMatchObject({ kind: "no_receipts" });
  });

  it.each([
    // The last receipt, and the room that the others had is left over.
    ["the last receipt first", shownUpTo(3, [3n, 5n, 7n])],
    ["a receipt and not those before it", shownUpTo(1, [0n, 7n, 7n])],
    ["a receipt that is not of this row", { linesHash: hashLines(LINES), lastLeaf: padHex("0x77", { size: 32 }) }],
  ])("begins again when somebody with the key has shown %s", (_, progress) => {
    for (const maxReceipts of [2, 100]) {
      const { lines, receipts } = decoded(CONTEST, progress, { ...BOUNDS, maxReceipts });
      expect(lines).toEqual(LINES);
      expect(receipts.map(({ amount }) => amount)).toEqual([5n, 3n, 7n, 2n].slice(0, maxReceipts));
    }
  });
});

import type { Address, Hex } from "viem";
import { bytesToHex } from "viem";
import { describe, expect, it } from "vitest";
import { type DueCharge, NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import type { PaidRow } from "../../receipts/findRows.ts";
import type { Leaf } from "../../receipts/receipts.ts";
import { judgeRow } from "./judgeRow.ts";

const DOMAIN = { chainId: 8453, router: `0x${"a".repeat(40)}` as Address };
const PAYER: Address = `0x${"1".repeat(40)}`;
const NEIGHBOUR: Address = `0x${"2".repeat(40)}`;
const INSURANCE: Address = `0x${"3".repeat(40)}`;
const TOOL = `0x${"7".repeat(32)}` as ToolId;

describe("receipts that are shown for a row", () => {
  let charges = 0;
  const charge = (amount: bigint, chargedTo = PAYER): DueCharge => ({
    id: `0x${String(++charges).padStart(64, "0")}` as Hex,
    for: { kind: "tool", toolId: TOOL, calls: 1 },
    payer: chargedTo,
    chargedTo,
    amount: microUsdc(amount),
    hashes: NO_HASHES,
    accruedAtMs: 1_750_000_000_000,
    attempts: 0,
    budgetId: null,
  });

  // What is found wrong with a row that has taken `lines`, and whether the court would give it back.
  function judge(lines: bigint[], dues: DueCharge[], choose = (leaves: Leaf[]) => leaves) {
    const tree = createMerkleTree(dues.map((due) => leafOf(DOMAIN, due)));
    const leaves = dues.map((due) => {
      const leaf = bytesToHex(leafOf(DOMAIN, due));
      return { receipt: receiptOf(due), leaf, path: tree.proofOf(leaf) };
    });
    const row = { batchId: tree.root, lines: lines.map((amount) => ({ toolId: TOOL, amount })) } as unknown as PaidRow;
    const judged = judgeRow(row, PAYER, choose(leaves), INSURANCE);
    return {
      amounts: judged.leaves.map(({ receipt }) => receipt.amount),
      sentences: judged.findings.map(({ sentence }) => sentence),
      isContestable: judged.findings.some(({ contestable }) => contestable),
    };
  }

  it("count if a line has room for them, because the court hears no others", () => {
    const { amounts, sentences } = judge([5n, 3n], [charge(0n), charge(5n), charge(3n), charge(6n)]);
    expect(amounts).toEqual([5n, 3n]);
    expect(sentences).toEqual([]);
  });

  it("make a row contestable if they are for less", () => {
    expect(judge([5n], [charge(3n), charge(1n)]).isContestable).toBe(true);
    expect(judge([5n], [charge(9n)]).isContestable).toBe(true);
  });

  it("make no row contestable if the operator could answer with some of them", () => {
    const { sentences, isContestable } = judge([5n], [charge(3n), charge(4n), charge(2n)]);
    expect(sentences).toEqual([expect.stringContaining("the receipts are for")]);
    expect(isContestable).toBe(false);
  });

  it("make a row contestable if no choice of them adds up", () => {
    expect(judge([5n], [charge(3n), charge(3n), charge(4n)]).isContestable).toBe(true);
  });

  it("are too many to try every choice of, and risk no deposit then", () => {
    const many = Array.from({ length: 60 }, (_, i) => charge(2n * (1_000_003n ** 2n + BigInt(i) ** 3n)));
    expect(judge([30n * 1_000_003n ** 2n + 1n], many).isContestable).toBe(false);
  });

  it("of somebody else, of another batch or one shown twice are told, and risk no deposit if the others add up", () => {
    const foreign = charge(4n, NEIGHBOUR);
    const { sentences, isContestable } = judge([5n], [charge(5n), foreign], ([own, theirs]) => {
      if (!own || !theirs) throw new Error("there are two");
      const elsewhere = { ...own, leaf: `0x${"9".repeat(64)}` };
      return [own, own, theirs, elsewhere];
    });
    expect(sentences).toEqual([
      expect.stringContaining("is shown twice"),
      expect.stringContaining(`is of ${NEIGHBOUR}`),
      expect.stringContaining("is not in the batch"),
    ]);
    expect(isContestable).toBe(false);
  });
});

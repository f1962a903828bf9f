import { SimpleMerkleTree } from "@openzeppelin/merkle-tree";
import { keccak256 as expected, type Hex, toHex } from "viem";
import { describe, expect, it } from "vitest";
import type { DueCharge } from "../domain/charge.ts";
import { microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { encodeReceipt, leafOf, receiptsTree } from "../engine/receipt.ts";
import { keccak256 } from "./app/keccak.ts";
import { readReceipt, verifyProof } from "./app/verifyProof.ts";

const hashOf = (n: number) => expected(toHex(n));
const chargeOf = (n: number): DueCharge => ({
  id: hashOf(n),
  for: { kind: "tool", toolId: `0x${n.toString(16).padStart(32, "0")}` as ToolId, calls: 3 },
  payer: `0x${"a".repeat(40)}`,
  chargedTo: `0x${"b".repeat(40)}`,
  amount: microUsdc(BigInt(n + 1)),
  hashes: { request: hashOf(1), response: hashOf(2), schema: `0x${"0".repeat(64)}` },
  accruedAtMs: 1_700_000_000_000 + n,
  attempts: 2,
});

describe("the browser's check of a proof", () => {
  it.each([0, 1, 31, 135, 136, 137, 272, 352, 1000])("hashes %i bytes as everybody else does", (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
    expect(toHex(keccak256(bytes))).toBe(expected(bytes));
  });

  it.each([1, 2, 3, 10, 100])("accepts every receipt of a batch of %i, and no other", (size) => {
    const charges = Array.from({ length: size }, (_, n) => chargeOf(n));
    const tree = receiptsTree(charges.map(leafOf));
    for (const charge of charges) {
      const leaf = leafOf(charge);
      const proof = { receipt: encodeReceipt(charge), path: tree.getProof(leaf) as Hex[], root: tree.root };
      expect(verifyProof(proof)).toMatchObject({ leaf, reachesRoot: true });
      const dearer = encodeReceipt({ ...charge, amount: microUsdc(charge.amount + 1n) });
      expect(verifyProof({ ...proof, receipt: dearer }).reachesRoot).toBe(false);
      expect(verifyProof({ ...proof, root: hashOf(9) }).reachesRoot).toBe(false);
    }
    expect(SimpleMerkleTree.verify(tree.root, leafOf(chargeOf(0)), tree.getProof(0))).toBe(true);
  });

  it("reads a receipt back from its bytes", () => {
    const values = Object.fromEntries(readReceipt(encodeReceipt(chargeOf(41))).map(({ name, value }) => [name, value]));
    expect(values).toEqual({
      charge: hashOf(41),
      payer: `0x${"a".repeat(40)}`,
      "charged to": `0x${"b".repeat(40)}`,
      tool: "00000000-0000-0000-0000-000000000029",
      amount: "42 micro-USDC",
      calls: "3",
      "accrued at": new Date(1_700_000_000_041).toISOString(),
      "failed attempts": "2",
      "request hash": hashOf(1),
      "response hash": hashOf(2),
      "schema hash": "not known",
    });
  });
});

import { bytesToHex, keccak256 as expected, toHex } from "viem";
import { describe, expect, it } from "vitest";
import type { DueCharge } from "../domain/charges/charge.ts";
import { microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { createMerkleTree } from "../engine/batch/merkleTree.ts";
import { encodeReceipt, leafOf } from "../engine/batch/receipt.ts";
import { keccak256 } from "./app/proof/keccak.ts";
import { readReceipt, verifyProof } from "./app/proof/verifyProof.ts";

const DOMAIN = { chainId: 8453, router: `0x${"c".repeat(40)}` } as const;
const hashOf = (n: number) => expected(toHex(n));
const chargeOf = (n: number): DueCharge => ({
  id: hashOf(n),
  for: { kind: "tool", toolId: `0x${n.toString(16).padStart(32, "0")}` as ToolId, calls: 3 },
  payer: `0x${"a".repeat(40)}`,
  budgetId: null,
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
    const tree = createMerkleTree(charges.map((charge) => leafOf(DOMAIN, charge)));
    for (const charge of charges) {
      const leaf = bytesToHex(leafOf(DOMAIN, charge));
      const proof = { receipt: encodeReceipt(DOMAIN, charge), path: tree.proofOf(leaf), root: tree.root };
      expect(verifyProof(proof)).toMatchObject({ leaf, reachesRoot: true });
      const costlier = encodeReceipt(DOMAIN, { ...charge, amount: microUsdc(charge.amount + 1n) });
      expect(verifyProof({ ...proof, receipt: costlier }).reachesRoot).toBe(false);
      const elsewhere = encodeReceipt({ ...DOMAIN, chainId: 84532 }, charge);
      expect(verifyProof({ ...proof, receipt: elsewhere }).reachesRoot).toBe(false);
      expect(verifyProof({ ...proof, root: hashOf(9) }).reachesRoot).toBe(false);
    }
  });

  it("reads a receipt back from its bytes", () => {
    const values = Object.fromEntries(
      readReceipt(encodeReceipt(DOMAIN, chargeOf(41))).map(({ name, value }) => [name, value]),
    );
    expect(values).toEqual({
      chain: "8453",
      router: DOMAIN.router,
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

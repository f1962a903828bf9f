import { SimpleMerkleTree } from "@openzeppelin/merkle-tree";
import fc from "fast-check";
import { bytesToHex, type Hex, keccak256 as viemKeccak256 } from "viem";
import { describe, expect, it } from "vitest";
import { keccak256 } from "./keccak.ts";
import { createMerkleTree, rootInSteps, verifiesProof } from "./merkleTree.ts";

const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("the tree of a batch", () => {
  it("is OpenZeppelin's, node for node", () => {
    fc.assert(
      fc.property(fc.array(leaf, { minLength: 1, maxLength: 70 }), (leaves) => {
        const tree = createMerkleTree(leaves);
        const theirs = SimpleMerkleTree.of(leaves.map((bytes) => bytesToHex(bytes)));
        expect(tree.root).toBe(theirs.root);
        for (const bytes of leaves) {
          const hex = bytesToHex(bytes);
          expect(SimpleMerkleTree.verify(tree.root, hex, tree.proofOf(hex))).toBe(true);
          expect(verifiesProof(tree.root, hex, theirs.getProof(hex) as Hex[])).toBe(true);
        }
      }),
    );
  });

  it("is the same if leaves begin alike, and if it is made in steps", async () => {
    const alike = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => bytes.fill(7, 0, 4 + ((bytes[31] ?? 0) % 4)));
    await fc.assert(
      fc.asyncProperty(fc.array(alike, { minLength: 1, maxLength: 70 }), async (leaves) => {
        const { root } = SimpleMerkleTree.of(leaves.map((bytes) => bytesToHex(bytes)));
        expect(createMerkleTree(leaves).root).toBe(root);
        expect(await rootInSteps(Buffer.concat(leaves))).toBe(root);
      }),
    );
    const many = Array.from({ length: 5_000 }, (_, i) => keccak256(Buffer.from(`${i}`)));
    expect(await rootInSteps(Buffer.concat(many))).toBe(createMerkleTree(many).root);
  });

  it("proves several leaves at once, in ascending order, as OpenZeppelin does", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(leaf, { minLength: 1, maxLength: 70, selector: bytesToHex }),
        fc.nat(),
        (leaves, seed) => {
          const tree = createMerkleTree(leaves);
          const wanted = leaves.map((bytes) => bytesToHex(bytes)).filter((_, i) => ((seed >> (i % 31)) & 1) === 1);
          const { leaves: ordered, proof, proofFlags } = tree.multiProofOf(wanted);
          expect(ordered).toEqual(wanted.toSorted());
          if (wanted.length === 0) return;
          expect(SimpleMerkleTree.verifyMultiProof(tree.root, { leaves: ordered, proof, proofFlags })).toBe(true);
          expect({ leaves: ordered, proof, proofFlags }).toEqual(
            SimpleMerkleTree.of(leaves.map((bytes) => bytesToHex(bytes))).getMultiProof(wanted),
          );
        },
      ),
    );
  });

  it("proves nothing that is no leaf, and has at least one", () => {
    const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const tree = createMerkleTree([first]);
    expect(() => tree.proofOf(bytesToHex(second))).toThrow("is no leaf of the tree");
    expect(verifiesProof(tree.root, bytesToHex(second), [])).toBe(false);
    expect(() => createMerkleTree([])).toThrow("at least one leaf");
  });

  it("is hashed as everybody else hashes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(bytesToHex(keccak256(bytes))).toBe(viemKeccak256(bytes));
      }),
    );
  });
});

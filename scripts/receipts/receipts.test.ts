import { type Hex, hexToBytes } from "viem";
import { describe, expect, it } from "vitest";
import { createMerkleTree, verifiesProof } from "../../settlement/engine/batch/merkleTree.ts";
import { pathsOf } from "./receipts.ts";

const hash = (digit: number | string): Hex => `0x${String(digit).padStart(64, "0")}`;

describe("paths out of a proof of many", () => {
  it.each([1, 2, 3, 5, 8, 13])("lead from each of some of %i leaves to the root", (count) => {
    const leaves = Array.from({ length: count }, (_, i) => hash(i + 1));
    const tree = createMerkleTree(leaves.map((leaf) => hexToBytes(leaf)));
    for (const every of [1, 2, 3]) {
      const shown = tree.multiProofOf(leaves.filter((_, i) => i % every === 0));
      const paths = pathsOf(shown.leaves, shown.proof, shown.proofFlags);
      expect(paths).toHaveLength(shown.leaves.length);
      for (const [i, leaf] of shown.leaves.entries()) {
        expect(paths[i]).toEqual(tree.proofOf(leaf));
        expect(verifiesProof(tree.root, leaf, paths[i] as Hex[])).toBe(true);
      }
    }
  });

  it("are none if the proof makes no sense", () => {
    expect(pathsOf([hash(1)], [], [true])).toEqual([]);
  });
});

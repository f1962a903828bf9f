import { bytesToHex, type Hex, hexToBytes } from "viem";
import { keccak256 } from "./keccak.ts";

const NODE_BYTES = 32;

export type MerkleTree = {
  root: Hex;
  // The siblings from a leaf up to the root.
  proofOf(leaf: Hex): Hex[];
};

// The tree that OpenZeppelin's MerkleProof verifies, in the shape in which its library lays it out: nodes in one row, the
// root first, the children of node i at 2i + 1 and 2i + 2, and the sorted leaves at its end, greatest first. That library
// keeps every node as text and takes longer for it than for the hashes.
export function createMerkleTree(leaves: readonly Uint8Array[]): MerkleTree {
  if (leaves.length === 0) throw new RangeError("a tree has at least one leaf");
  const nodes = new Uint8Array((2 * leaves.length - 1) * NODE_BYTES);
  const nodeAt = (index: number) => nodes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES);
  const sorted = leaves.toSorted(Buffer.compare);
  sorted.forEach((leaf, position) => {
    nodeAt(2 * leaves.length - 2 - position).set(leaf);
  });
  const pair = new Uint8Array(2 * NODE_BYTES);
  for (let index = leaves.length - 2; index >= 0; index--) {
    const [left, right] = [nodeAt(2 * index + 1), nodeAt(2 * index + 2)];
    const swapped = Buffer.compare(left, right) > 0;
    pair.set(swapped ? right : left);
    pair.set(swapped ? left : right, NODE_BYTES);
    nodeAt(index).set(keccak256(pair));
  }
  return {
    root: bytesToHex(nodeAt(0)),
    proofOf(leaf) {
      const position = indexOf(sorted, hexToBytes(leaf));
      if (position < 0) throw new RangeError(`${leaf} is no leaf of the tree`);
      const path: Hex[] = [];
      for (let index = 2 * leaves.length - 2 - position; index > 0; index = (index - 1) >> 1) {
        path.push(bytesToHex(nodeAt(index % 2 === 0 ? index - 1 : index + 1)));
      }
      return path;
    },
  };
}

function indexOf(sorted: readonly Uint8Array[], wanted: Uint8Array): number {
  return sorted.findIndex((leaf) => Buffer.compare(leaf, wanted) === 0);
}

// Whether a path leads from the leaf to the root.
export function verifiesProof(root: Hex, leaf: Hex, path: readonly Hex[]): boolean {
  const top = path.reduce<Uint8Array>((node, sibling) => {
    const pair = [node, hexToBytes(sibling)].sort(Buffer.compare);
    return keccak256(Buffer.concat(pair));
  }, hexToBytes(leaf));
  return bytesToHex(top) === root;
}

import { bytesToHex, type Hex, hexToBytes } from "viem";
import { keccak256 } from "./keccak.ts";

const NODE_BYTES = 32;

export type MerkleTree = {
  root: Hex;
  // The siblings from a leaf up to the root.
  proofOf(leaf: Hex): Hex[];
  // What proves several leaves at once.
  multiProofOf(leaves: readonly Hex[]): MultiProof;
};

// The leaves in ascending order, and what OpenZeppelin's MerkleProof wants beside them: at each step it takes the next of
// what is known, and with it another of those if the flag is set, or else the next of the proof.
export type MultiProof = { leaves: Hex[]; proof: Hex[]; proofFlags: boolean[] };

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
  // Most trees are asked for their root alone.
  let positions: Map<Hex, number> | null = null;
  const placeOf = (leaf: Hex): number => {
    positions ??= new Map(sorted.map((bytes, position) => [bytesToHex(bytes), position]));
    const position = positions.get(leaf);
    if (position === undefined) throw new RangeError(`${leaf} is no leaf of the tree`);
    return 2 * leaves.length - 2 - position;
  };
  const siblingOf = (index: number) => (index % 2 === 0 ? index - 1 : index + 1);
  const parentOf = (index: number) => (index - 1) >> 1;
  return {
    root: bytesToHex(nodeAt(0)),
    proofOf(leaf) {
      const path: Hex[] = [];
      for (let index = placeOf(leaf); index > 0; index = parentOf(index))
        path.push(bytesToHex(nodeAt(siblingOf(index))));
      return path;
    },
    multiProofOf(wanted) {
      // From the end of the row of nodes, where the smallest leaf is, to its beginning.
      const places = wanted.map(placeOf).sort((one, other) => other - one);
      const waiting = [...places];
      const proof: Hex[] = [];
      const proofFlags: boolean[] = [];
      for (let next = 0; (waiting[next] ?? 0) > 0; next++) {
        const index = waiting[next] as number;
        const isKnown = waiting[next + 1] === siblingOf(index);
        if (isKnown) next += 1;
        else proof.push(bytesToHex(nodeAt(siblingOf(index))));
        proofFlags.push(isKnown);
        waiting.push(parentOf(index));
      }
      return { leaves: places.map((place) => bytesToHex(nodeAt(place))), proof, proofFlags };
    },
  };
}

// Whether a path leads from the leaf to the root.
export function verifiesProof(root: Hex, leaf: Hex, path: readonly Hex[]): boolean {
  const top = path.reduce<Uint8Array>((node, sibling) => {
    const pair = [node, hexToBytes(sibling)].sort(Buffer.compare);
    return keccak256(Buffer.concat(pair));
  }, hexToBytes(leaf));
  return bytesToHex(top) === root;
}

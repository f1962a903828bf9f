import { bytesToHex, type Hex, hexToBytes } from "viem";
import { letOthersRun } from "../../domain/letOthersRun.ts";
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
  const { sorted, nodes, nodeAt } = layOut(leaves);
  hashNodes(nodes, leaves.length - 2, 0);
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

// The root of the same tree, made in steps, so that nobody waits for all of it.
export async function rootInSteps(leaves: readonly Uint8Array[]): Promise<Hex> {
  const { nodes, nodeAt } = layOut(leaves);
  for (let from = leaves.length - 2; from >= 0; from -= NODES_AT_ONCE) {
    await letOthersRun();
    hashNodes(nodes, from, Math.max(0, from - NODES_AT_ONCE + 1));
  }
  return bytesToHex(nodeAt(0));
}

const NODES_AT_ONCE = 2_000;

function layOut(leaves: readonly Uint8Array[]) {
  if (leaves.length === 0) throw new RangeError("a tree has at least one leaf");
  const nodes = new Uint8Array((2 * leaves.length - 1) * NODE_BYTES);
  const nodeAt = (index: number) => nodes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES);
  const sorted = inOrder(leaves);
  sorted.forEach((leaf, position) => {
    nodes.set(leaf, (2 * leaves.length - 2 - position) * NODE_BYTES);
  });
  return { sorted, nodes, nodeAt };
}

// From the last to the first, each after its children, which lie side by side.
function hashNodes(nodes: Uint8Array, last: number, first: number): void {
  const pair = new Uint8Array(2 * NODE_BYTES);
  for (let index = last; index >= first; index--) {
    const left = (2 * index + 1) * NODE_BYTES;
    const [right, end] = [left + NODE_BYTES, left + 2 * NODE_BYTES];
    if (Buffer.compare(nodes.subarray(left, right), nodes.subarray(right, end)) <= 0) {
      pair.set(nodes.subarray(left, end));
    } else {
      pair.set(nodes.subarray(right, end));
      pair.set(nodes.subarray(left, right), NODE_BYTES);
    }
    nodes.set(keccak256(pair), index * NODE_BYTES);
  }
}

// In ascending order. Numbers are sorted several times as fast as bytes: of each leaf its first five bytes, with the place where it
// was. Where those are equal, which is rare among hashes, the whole leaves are compared.
function inOrder(leaves: readonly Uint8Array[]): Uint8Array[] {
  const keys = new BigUint64Array(leaves.length);
  leaves.forEach((leaf, place) => {
    const start = Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).readBigUInt64BE();
    keys[place] = ((start >> PLACE_BITS) << PLACE_BITS) | BigInt(place);
  });
  keys.sort();
  const sorted = Array.from(keys, (key) => leaves[Number(BigInt.asUintN(Number(PLACE_BITS), key))] as Uint8Array);
  for (let end = 1; end < sorted.length; end++) {
    for (let at = end; at > 0; at--) {
      const [before, leaf] = [sorted[at - 1] as Uint8Array, sorted[at] as Uint8Array];
      if (Buffer.compare(before, leaf) <= 0) break;
      sorted[at - 1] = leaf;
      sorted[at] = before;
    }
  }
  return sorted;
}

// Room for the places of 16 million leaves.
const PLACE_BITS = 24n;

// Whether a path leads from the leaf to the root.
export function verifiesProof(root: Hex, leaf: Hex, path: readonly Hex[]): boolean {
  const top = path.reduce<Uint8Array>((node, sibling) => {
    const pair = [node, hexToBytes(sibling)].sort(Buffer.compare);
    return keccak256(Buffer.concat(pair));
  }, hexToBytes(leaf));
  return bytesToHex(top) === root;
}

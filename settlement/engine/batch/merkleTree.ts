import { bytesToHex, type Hex, hexToBytes } from "viem";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
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
  const laidOut = layOut(Buffer.concat(leaves));
  hashNodes(laidOut.nodes, leaves.length - 2, 0);
  return treeOf(laidOut);
}

// The same tree, made in steps, so that nobody waits for all of it.
export async function treeInSteps(leaves: readonly Uint8Array[]): Promise<MerkleTree> {
  return treeOf(await hashInSteps(Buffer.concat(leaves)));
}

// Its root alone. The leaves are given one after another in one row of bytes: ten thousand of them apart would be most of what there
// is to clean up after a batch.
export async function rootInSteps(leaves: Uint8Array): Promise<Hex> {
  const { nodeAt } = await hashInSteps(leaves);
  return bytesToHex(nodeAt(0));
}

async function hashInSteps(leaves: Uint8Array): Promise<ReturnType<typeof layOut>> {
  const laidOut = layOut(leaves);
  for (let from = laidOut.count - 2; from >= 0; from -= NODES_AT_ONCE) {
    await letOthersRun();
    hashNodes(laidOut.nodes, from, Math.max(0, from - NODES_AT_ONCE + 1));
  }
  return laidOut;
}

function treeOf({ count, nodeAt }: ReturnType<typeof layOut>): MerkleTree {
  // Most trees are asked for their root alone.
  let positions: Map<Hex, number> | null = null;
  const placeOf = (leaf: Hex): number => {
    positions ??= new Map(Array.from({ length: count }, (_, i) => [bytesToHex(nodeAt(count - 1 + i)), count - 1 + i]));
    const position = positions.get(leaf);
    if (position === undefined) throw new RangeError(`${leaf} is no leaf of the tree`);
    return position;
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

const NODES_AT_ONCE = 2_000;

function layOut(leaves: Uint8Array) {
  const count = leaves.length / NODE_BYTES;
  if (count === 0) throw new RangeError("a tree has at least one leaf");
  const nodes = new Uint8Array((2 * count - 1) * NODE_BYTES);
  const nodeAt = (index: number) => nodes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES);
  let end = nodes.length;
  for (const place of inOrder(leaves, count)) {
    const start = place * NODE_BYTES;
    end -= NODE_BYTES;
    for (let i = 0; i < NODE_BYTES; i++) nodes[end + i] = leaves[start + i] ?? 0;
  }
  return { count, nodes, nodeAt };
}

// From the last to the first, each after its children, which lie side by side and mostly in the order in which they are hashed.
function hashNodes(nodes: Uint8Array, last: number, first: number): void {
  const turned = new Uint8Array(2 * NODE_BYTES);
  for (let index = last; index >= first; index--) {
    const left = (2 * index + 1) * NODE_BYTES;
    const [right, end] = [left + NODE_BYTES, left + 2 * NODE_BYTES];
    let pair = nodes.subarray(left, end);
    if (isAbove(nodes, left, right)) {
      turned.set(nodes.subarray(right, end));
      turned.set(nodes.subarray(left, right), NODE_BYTES);
      pair = turned;
    }
    nodes.set(keccak256(pair), index * NODE_BYTES);
  }
}

// Whether the first of two nodes is the greater one. Their first bytes tell, mostly.
function isAbove(nodes: Uint8Array, one: number, other: number): boolean {
  for (let i = 0; i < NODE_BYTES; i++) {
    const difference = (nodes[one + i] ?? 0) - (nodes[other + i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

// The places of leaves in ascending order. Numbers are sorted several times as fast as bytes: of each leaf its first four bytes, with
// its place. Where those are equal, which is rare among hashes, the whole leaves are compared.
function inOrder(leaves: Uint8Array, count: number): Float64Array {
  if (count > PLACES) throw new RangeError(`a tree has at most ${PLACES} leaves, and not ${count}`);
  const view = new DataView(leaves.buffer, leaves.byteOffset, leaves.byteLength);
  const places = new Float64Array(count);
  for (let place = 0; place < count; place++) places[place] = view.getUint32(place * NODE_BYTES) * PLACES + place;
  places.sort();
  for (let i = 0; i < count; i++) places[i] = (places[i] as number) % PLACES;
  for (let end = 1; end < count; end++) {
    for (let at = end; at > 0; at--) {
      const [before, leaf] = [places[at - 1] as number, places[at] as number];
      if (!isAbove(leaves, before * NODE_BYTES, leaf * NODE_BYTES)) break;
      places[at - 1] = leaf;
      places[at] = before;
    }
  }
  return places;
}

// So many that a place and four bytes are one number without a fraction.
const PLACES = 2 ** 21;

// Whether a path leads from the leaf to the root.
export function verifiesProof(root: Hex, leaf: Hex, path: readonly Hex[]): boolean {
  const top = path.reduce<Uint8Array>((node, sibling) => {
    const pair = [node, hexToBytes(sibling)].sort(Buffer.compare);
    return keccak256(Buffer.concat(pair));
  }, hexToBytes(leaf));
  return bytesToHex(top) === root;
}

import { keccak256 } from "./keccak.ts";

export type Verified = {
  // The receipt's double hash, and what it becomes with each sibling on the way up.
  leaf: string;
  nodes: readonly string[];
  reachesRoot: boolean;
};

// Hashes a receipt up to its root as OpenZeppelin's MerkleProof does on chain: in each pair the smaller one first.
export function verifyProof({ receipt, path, root }: { receipt: string; path: readonly string[]; root: string }) {
  const leaf = keccak256(keccak256(bytesOf(receipt)));
  const nodes: string[] = [];
  let node = leaf;
  for (const sibling of path) {
    const [first, second] = [hexOf(node), sibling.toLowerCase()].sort();
    node = keccak256(bytesOf(`${first}${second?.slice(2)}`));
    nodes.push(hexOf(node));
  }
  return { leaf: hexOf(leaf), nodes, reachesRoot: hexOf(node) === root.toLowerCase() } satisfies Verified;
}

const FIELDS = [
  "chain",
  "router",
  "charge",
  "payer",
  "charged to",
  "tool",
  "amount",
  "calls",
  "accrued at",
  "failed attempts",
  "request hash",
  "response hash",
  "schema hash",
] as const;

export type ReceiptField = { name: (typeof FIELDS)[number]; word: string; value: string };

// The words of a receipt, read from the very bytes that were hashed.
export function readReceipt(receipt: string): ReceiptField[] {
  return FIELDS.map((name, i) => {
    const word = receipt.slice(2 + 64 * i, 2 + 64 * (i + 1));
    return { name, word: `0x${word}`, value: readWord(name, word) };
  });
}

function readWord(name: ReceiptField["name"], word: string): string {
  const isZero = /^0*$/.test(word);
  switch (name) {
    case "router":
    case "payer":
    case "charged to":
      return `0x${word.slice(24)}`;
    case "tool":
      return isZero
        ? "none: this is a model's cost"
        : word.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    case "amount":
      return `${BigInt(`0x${word}`)} micro-USDC`;
    case "accrued at":
      return new Date(Number(BigInt(`0x${word}`))).toISOString();
    case "chain":
    case "calls":
    case "failed attempts":
      return `${BigInt(`0x${word}`)}`;
    default:
      return isZero ? "not known" : `0x${word}`;
  }
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

const hexOf = (bytes: Uint8Array) => `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

import { AbiCoder, concat, keccak256 } from "ethers";
import { type Hex, hexToBytes } from "viem";
import { z } from "zod";
import { verifiesProof } from "../../settlement/engine/batch/merkleTree.ts";

const hash = z.string().regex(/^0x[0-9a-f]{64}$/);
const address = z.string().regex(/^0x[0-9a-f]{40}$/i);
const units = z.string().regex(/^[0-9]{1,30}$/);
const count = z.int().nonnegative();

// What a marketplace answers for a batch. Whatever else it says is not used: all that matters follows from these.
export const receiptsAnswer = z.object({
  receipts: z
    .array(
      z.object({
        chargeId: hash,
        payer: address,
        chargedTo: address,
        toolId: z.string().regex(/^0x[0-9a-f]{32}$/),
        amount: units,
        calls: count,
        accruedAtMs: count,
        attempts: count,
        request: hash,
        response: hash,
        schema: hash,
        path: z.array(hash).max(64),
      }),
    )
    .max(100_000),
});

export type ReceiptsAnswer = z.infer<typeof receiptsAnswer>;

export type Receipt = {
  chargeId: string;
  payer: string;
  chargedTo: string;
  toolId: string;
  amount: bigint;
  calls: bigint;
  accruedAtMs: bigint;
  attempts: bigint;
  request: string;
  response: string;
  schema: string;
};

// A receipt and its way up to the root of its batch.
export type Leaf = { receipt: Receipt; leaf: string; path: string[] };

export type Domain = { chainId: bigint; router: string };

const RECEIPT =
  "tuple(bytes32 chargeId, address payer, address chargedTo, bytes16 toolId, uint256 amount, uint256 calls, uint256 accruedAtMs, uint256 attempts, bytes32 request, bytes32 response, bytes32 schema)";
const coder = AbiCoder.defaultAbiCoder();

// Computed here, because a leaf that somebody else names proves nothing.
export function leafOf({ chainId, router }: Domain, receipt: Receipt): string {
  return keccak256(keccak256(coder.encode(["uint256", "address", RECEIPT], [chainId, router, receipt])));
}

export function leavesOf(domain: Domain, { receipts }: ReceiptsAnswer): Leaf[] {
  return receipts.map(({ path, ...fields }) => {
    const receipt: Receipt = {
      ...fields,
      amount: BigInt(fields.amount),
      calls: BigInt(fields.calls),
      accruedAtMs: BigInt(fields.accruedAtMs),
      attempts: BigInt(fields.attempts),
    };
    return { receipt, leaf: leafOf(domain, receipt), path };
  });
}

export const isInBatch = (batchId: string, { leaf, path }: Leaf): boolean =>
  verifiesProof(batchId as Hex, leaf as Hex, path as Hex[]);

// The way of each leaf up to the root, from a proof of all of them at once, which is what operators show to the court.
export function pathsOf(leaves: readonly string[], proof: readonly string[], flags: readonly boolean[]): string[][] {
  const nodes: { hash: string; parent: number; sibling: string }[] = leaves.map((hash) => ({
    hash,
    parent: -1,
    sibling: "",
  }));
  let next = 0;
  let shown = 0;
  for (const flag of flags) {
    const left = nodes[next++];
    const right = flag ? nodes[next++] : { hash: proof[shown++] ?? "0x", parent: -1, sibling: "" };
    if (!left || !right) return [];
    const parent = nodes.length;
    Object.assign(left, { parent, sibling: right.hash });
    Object.assign(right, { parent, sibling: left.hash });
    const pair = [left.hash, right.hash].sort((one, other) =>
      Buffer.compare(hexToBytes(one as Hex), hexToBytes(other as Hex)),
    );
    nodes.push({ hash: keccak256(concat(pair)), parent: -1, sibling: "" });
  }
  return leaves.map((_, i) => {
    const path: string[] = [];
    for (let node = nodes[i]; node && node.parent >= 0; node = nodes[node.parent]) path.push(node.sibling);
    return path;
  });
}

import { bytesToHex, type Hex } from "viem";
import type { Chain } from "../../chain/chain.ts";
import type { Charge } from "../../domain/charges/charge.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { treeInSteps, verifiesProof } from "../batch/merkleTree.ts";
import { encodeReceipt, leafOf } from "../batch/receipt.ts";

export type Proof = {
  charge: Charge;
  // The receipt's fields as `abi.encode` writes them; its double hash is the leaf.
  receipt: Hex;
  leaf: Hex;
  root: Hex;
  // The siblings from the leaf up to the root, for OpenZeppelin's MerkleProof.
  path: readonly Hex[];
  // When the chain settled the root; zero if it has not.
  settledAt: bigint;
};

export type ProofOutcome =
  | { kind: "proof"; proof: Proof }
  | { kind: "charge_not_found" }
  | { kind: "not_in_a_batch" }
  // It was paid by a batch that was taken in from the chain, which somebody else has made.
  | { kind: "no_receipt"; batchId: Hex };

// Proves one charge against the root that is on chain, with no help from the ledger but the receipts themselves.
export async function prove(ledger: Ledger, chain: Chain, chargeId: Hex): Promise<ProofOutcome> {
  const charge = await ledger.findCharge(chargeId);
  if (charge === null) return { kind: "charge_not_found" };
  if (!("batchId" in charge.state)) return { kind: "not_in_a_batch" };
  const { batchId } = charge.state;
  // Of the batch, and not of today's configuration: it may have been settled by an earlier router.
  const submission = await ledger.findSubmission(batchId);
  const domain = { chainId: chain.chainId, router: submission?.to ?? chain.router };
  const leaf = bytesToHex(leafOf(domain, charge));
  const receipts = await ledger.listReceipts(batchId);
  if (!receipts.some((receipt) => receipt.leaf === leaf)) return { kind: "no_receipt", batchId };
  const tree = await treeInSteps(receipts.map((receipt) => Buffer.from(receipt.leaf.slice(2), "hex")));
  const path = tree.proofOf(leaf);
  const settledAt = await chain.settledAt(batchId, "latest");
  return {
    kind: "proof",
    proof: { charge, receipt: encodeReceipt(domain, charge), leaf, root: batchId, path, settledAt },
  };
}

// What anybody can check without the ledger.
export function verifyProof({ root, leaf, path }: Pick<Proof, "root" | "leaf" | "path">): boolean {
  return verifiesProof(root, leaf, path);
}

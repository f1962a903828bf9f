import { hash } from "node:crypto";
import type { Address, Hex } from "viem";

export type SubmissionKind = "settle" | "payout" | "filler" | "answer";

// A place in a transaction's life on chain. Only `included`, `reverted` and `final` have a block.
export type Inclusion = { txHash: Hex; blockNumber: bigint; blockHash: Hex; gasUsed: bigint };

// planned: it has its calldata, perhaps a nonce, and nothing was signed.
// submitted: signed bytes are in the ledger and may be known to the network.
// included: mined with success, not final yet. reverted: mined without success, not final yet.
// final: mined with success for good. abandoned: its nonce is spent for good by something else or by a revert, so that
// none of its bytes can ever succeed, and its charges are free for another batch.
export type SubmissionState =
  | { kind: "planned" }
  | { kind: "submitted" }
  | ({ kind: "included" } & Inclusion)
  | ({ kind: "reverted" } & Inclusion)
  | ({ kind: "final" } & Inclusion)
  | { kind: "abandoned" };

// One set of signed bytes. A replacement is a further broadcast of the same submission on the same nonce.
export type Broadcast = {
  txHash: Hex;
  raw: Hex;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  signedAtMs: number;
};

// Something that an operator does on chain: settle a batch, push payouts, answer a contest, or fill a gap in its nonces. A nonce
// belongs to one of them.
export type Submission = {
  // The batch's id for `settle`; a hash of its own for the others.
  id: Hex;
  kind: SubmissionKind;
  operator: Address;
  nonce: number | null;
  to: Address;
  calldata: Hex;
  gasLimit: bigint;
  createdAtMs: number;
  state: SubmissionState;
  // Oldest first.
  broadcasts: readonly Broadcast[];
};

// What an operator plans beside batches.
export type OtherSubmission = Pick<Submission, "id" | "to" | "calldata" | "nonce"> & {
  kind: "payout" | "filler" | "answer";
};

// An empty transfer of the operator to itself, which fills a nonce that nothing else will use. It is named after the nonce, so
// that whoever finds the same gap plans the same filler.
export function fillerOf(operator: Address, nonce: number): OtherSubmission {
  const id: Hex = `0x${hash("sha256", `filler ${operator} ${nonce}`)}`;
  return { id, kind: "filler", to: operator, calldata: "0x", nonce };
}

// The name of an answer to a contest: after the row and the answers before it, so that whoever answers the same plans the same one.
export function answerIdOf(operator: Address, batchId: Hex, account: Address, answers: number): Hex {
  return `0x${hash("sha256", `answer ${operator} ${batchId} ${account} ${answers}`)}`;
}

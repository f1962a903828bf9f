import type {
  Broadcast,
  Inclusion,
  Submission,
  SubmissionKind,
  SubmissionState,
} from "../../domain/batch/submission.ts";
import { address, count, damaged, hex, integer, text } from "../database/decode.ts";
import type { Row } from "../database/sql.ts";

export function inclusionFrom(row: Row): Inclusion | null {
  if (row.block_hash === null) return null;
  return {
    txHash: hex(row, "tx_hash"),
    blockNumber: integer(row, "block_number"),
    blockHash: hex(row, "block_hash"),
    gasUsed: integer(row, "gas_used"),
  };
}

export function submissionFrom(row: Row, broadcasts: readonly Broadcast[]): Submission {
  return {
    id: hex(row, "id"),
    kind: text(row, "kind") as SubmissionKind,
    operator: address(row, "operator"),
    nonce: row.nonce === null ? null : count(row, "nonce"),
    to: address(row, "recipient"),
    calldata: hex(row, "calldata"),
    gasLimit: integer(row, "gas_limit"),
    createdAtMs: count(row, "created_at"),
    state: submissionStateFrom(row),
    broadcasts,
  };
}

function submissionStateFrom(row: Row): SubmissionState {
  const kind = text(row, "state") as SubmissionState["kind"];
  if (kind === "planned" || kind === "submitted" || kind === "abandoned") return { kind };
  return { kind, ...(inclusionFrom(row) ?? damaged("block_hash", null)) };
}

export function broadcastFrom(row: Row): Broadcast {
  return {
    txHash: hex(row, "tx_hash"),
    raw: hex(row, "raw"),
    maxFeePerGas: BigInt(text(row, "max_fee_per_gas")),
    maxPriorityFeePerGas: BigInt(text(row, "max_priority_fee_per_gas")),
    signedAtMs: count(row, "signed_at"),
  };
}

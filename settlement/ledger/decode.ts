import type { Address, Hex } from "viem";
import { type Charge, type ChargeState, chargeIdOf, type DueCharge, NO_HASH } from "../domain/charge.ts";
import { SettlementError } from "../domain/errors.ts";
import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { Hold, Session, SessionStatus } from "../domain/session.ts";
import type { Broadcast, Inclusion, Submission, SubmissionKind, SubmissionState } from "../domain/submission.ts";
import type { ToolId } from "../domain/toolId.ts";
import type { Row } from "./sql.ts";

// From rows to the domain. A column of another type than the schema says means that the ledger is damaged.

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : damaged(column, value);
}

export function integer(row: Row, column: string): bigint {
  const value = row[column];
  return typeof value === "bigint" ? value : damaged(column, value);
}

export function count(row: Row, column: string): number {
  const value = Number(integer(row, column));
  return Number.isSafeInteger(value) ? value : damaged(column, value);
}

export function amount(row: Row, column = "amount"): MicroUsdc {
  return microUsdc(integer(row, column));
}

export function hex(row: Row, column: string): Hex {
  return text(row, column) as Hex;
}

export function address(row: Row, column: string): Address {
  return text(row, column) as Address;
}

function hash(row: Row, column: string): Hex {
  return row[column] === null ? NO_HASH : hex(row, column);
}

function damaged(column: string, value: unknown): never {
  throw new SettlementError(
    "ledger_corrupt",
    `The ledger has ${String(value)} in column ${column}, where it cannot be.`,
  );
}

export function sessionFrom(row: Row): Session {
  return {
    id: text(row, "id"),
    payer: address(row, "payer"),
    maxSpend: amount(row, "max_spend"),
    spent: amount(row, "spent"),
    held: amount(row, "held"),
    status: text(row, "status") as SessionStatus,
    closeRequested: row.close_requested === 1n,
    openedAtMs: count(row, "opened_at"),
    expiresAtMs: count(row, "expires_at"),
    methodPrice: row.method_price === null ? null : amount(row, "method_price"),
    pendingAccruedCount: count(row, "waiting_count"),
    pendingAccrued: amount(row, "waiting_amount"),
  };
}

export function holdFrom(row: Row): Hold {
  const hold = {
    callId: text(row, "call_id"),
    sessionId: text(row, "session_id"),
    payer: address(row, "payer"),
    toolId: text(row, "tool_id") as ToolId,
    method: text(row, "method"),
    amount: amount(row),
    heldAtMs: count(row, "held_at"),
  };
  const state = text(row, "state") as Hold["state"]["kind"];
  return { ...hold, state: state === "captured" ? { kind: state, chargeId: chargeIdOfCall(hold) } : { kind: state } };
}

export function chargeIdOfCall({ callId, sessionId, toolId }: Pick<Hold, "callId" | "sessionId" | "toolId">): Hex {
  return chargeIdOf({ kind: "call", sessionId, callId }, { kind: "tool", toolId, calls: 1 });
}

export function dueChargeFrom(row: Row): DueCharge {
  return {
    id: hex(row, "id"),
    for:
      row.tool_id === null
        ? { kind: "model" }
        : { kind: "tool", toolId: text(row, "tool_id") as ToolId, calls: count(row, "calls") },
    payer: address(row, "payer"),
    chargedTo: address(row, "charged_to"),
    amount: amount(row),
    hashes: {
      request: hash(row, "request_hash"),
      response: hash(row, "response_hash"),
      schema: hash(row, "schema_hash"),
    },
    accruedAtMs: count(row, "accrued_at"),
    attempts: count(row, "attempts"),
  };
}

// A charge with the state of its batch's submission as `submission_state`.
export function chargeFrom(row: Row): Charge {
  return {
    ...dueChargeFrom(row),
    source:
      row.turn_id === null
        ? { kind: "call", sessionId: text(row, "session_id"), callId: text(row, "call_id") }
        : { kind: "turn", turnId: text(row, "turn_id") },
    state: chargeStateFrom(row),
  };
}

function chargeStateFrom(row: Row): ChargeState {
  const kind = text(row, "state");
  switch (kind) {
    case "accrued":
      return { kind, dueAtMs: count(row, "due_at") };
    case "voided":
      return { kind };
    case "final":
    case "absorbed":
    case "refused":
      return { kind, root: hex(row, "root") };
    default:
      return { kind: batchedStateOf(row.submission_state), root: hex(row, "root") };
  }
}

// A revert is not final until it is deep enough, and until then the batch is as good as sent.
function batchedStateOf(submission: unknown): "batched" | "submitted" | "included" {
  if (submission === "planned") return "batched";
  return submission === "included" ? "included" : "submitted";
}

export function inclusionFrom(row: Row): Inclusion | null {
  if (row.block_hash === null) return null;
  return {
    txHash: hex(row, "tx_hash"),
    blockNumber: integer(row, "block_number"),
    blockHash: hex(row, "block_hash"),
    gasUsed: row.gas_used === null ? null : integer(row, "gas_used"),
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
  if (kind === "planned" || kind === "submitted" || kind === "released") return { kind };
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

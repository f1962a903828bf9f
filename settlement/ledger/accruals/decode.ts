import type { Hex } from "viem";
import { type Charge, type ChargeState, type DueCharge, NO_HASH } from "../../domain/charges/charge.ts";
import type { Exposure } from "../../domain/payer/payer.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, budgetId, count, hex, integer, text } from "../database/decode.ts";
import type { Row } from "../database/sql.ts";

export function dueChargeFrom(row: Row): DueCharge {
  return {
    id: hex(row, "id"),
    for:
      row.tool_id === null
        ? { kind: "model" }
        : { kind: "tool", toolId: text(row, "tool_id") as ToolId, calls: count(row, "calls") },
    payer: address(row, "payer"),
    budgetId: budgetId(row),
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
    deferrals: count(row, "deferrals"),
    state: chargeStateFrom(row),
  };
}

function chargeStateFrom(row: Row): ChargeState {
  const kind = text(row, "state");
  switch (kind) {
    case "accrued":
      return { kind: row.owed === 1n ? "owed" : kind, dueAtMs: count(row, "due_at") };
    case "voided":
      return { kind };
    case "refused":
      return { kind, batchId: hex(row, "batch_id") };
    default:
      return { kind: batchedStateOf(row), batchId: hex(row, "batch_id") };
  }
}

// A revert is not final until it is deep enough, and until then the batch is as good as sent.
function batchedStateOf({ submission_state: submission, payer, charged_to: chargedTo }: Row) {
  if (submission === "planned") return "batched";
  if (submission === "final") return payer === chargedTo ? "final" : "absorbed";
  return submission === "included" ? "included" : "submitted";
}

function hash(row: Row, column: string): Hex {
  return row[column] === null ? NO_HASH : hex(row, column);
}

export function exposureFrom(row: Row): Exposure {
  return {
    payer: address(row, "payer"),
    pending: amount(row, "pending"),
    held: amount(row, "held"),
    owed: amount(row, "owed"),
    debt: amount(row, "debt"),
    settled: amount(row, "settled"),
    takenAtBlock: integer(row, "taken_at_block"),
  };
}

import { type Address, type Hex, isAddressEqual, type Log, parseEventLogs, size, slice } from "viem";
import {
  type BatchOutcome,
  CHARGE_FAILURES,
  type ChargeFailure,
  TOOL_REFUSALS,
  type ToolRefusal,
} from "../../domain/batch/batch.ts";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { routerAbi } from "./abi.ts";

const REFUSED_LINE_BYTES = 22;
const TOOL_ID_BYTES = 16;

type Lists<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

type Line = Omit<BatchOutcome["refused"][number], "reason">;

// Lines are reported row by row; why their tools were refused follows after all rows.
type Collected = Lists<Pick<BatchOutcome, "failed" | "paid">> & { lines: Line[]; reasons: Map<ToolId, ToolRefusal> };

const nothing = (): Collected => ({ failed: [], paid: [], lines: [], reasons: new Map() });

// Reads what became of every batch in a transaction. The router cannot be re-entered, so all it logs between the start
// and the end of a batch belongs to that batch, and `BatchSettled` is the last of it.
export function decodeOutcome(logs: readonly Log[], router: Address): Map<Hex, BatchOutcome> {
  const batches = new Map<Hex, BatchOutcome>();
  let collected = nothing();
  let paidDirectly = false;
  const events = parseEventLogs({
    abi: routerAbi,
    logs: logs.filter((log) => isAddressEqual(log.address, router)),
  });
  for (const { eventName, args } of events) {
    switch (eventName) {
      case "ChargeFailed":
        collected.failed.push({
          chargedTo: args.payer,
          amount: microUsdc(args.amount),
          reason: chargeFailureOf(args.reason),
        });
        break;
      case "LinesRefused":
        collected.lines.push(...refusedLinesOf(args.payer, args.lines));
        break;
      case "ToolRefused":
        collected.reasons.set(args.toolId as ToolId, toolRefusalOf(args.reason));
        break;
      case "Paid":
        // A payment without a batch: the router reports what its tool earned right after it.
        paidDirectly = true;
        break;
      case "ToolPaid":
        if (!paidDirectly) {
          collected.paid.push({
            toolId: args.toolId as ToolId,
            payee: args.payee,
            amount: microUsdc(args.amount),
            developerShare: microUsdc(args.developerShare),
          });
        }
        paidDirectly = false;
        break;
      case "BatchSettled": {
        const { failed, paid, lines, reasons } = collected;
        batches.set(args.batchId, {
          charged: microUsdc(args.charged),
          treasuryShare: microUsdc(args.treasuryShare),
          failed,
          paid,
          refused: lines.map((line) => ({ ...line, reason: reasonOf(line.toolId, reasons) })),
        });
        collected = nothing();
        break;
      }
    }
  }
  return batches;
}

// A tool id and an amount for each line.
function refusedLinesOf(chargedTo: Address, packed: Hex): Line[] {
  return Array.from({ length: size(packed) / REFUSED_LINE_BYTES }, (_, i) => {
    const start = i * REFUSED_LINE_BYTES;
    const toolId = slice(packed, start, start + TOOL_ID_BYTES) as ToolId;
    return {
      chargedTo,
      toolId,
      amount: microUsdc(BigInt(slice(packed, start + TOOL_ID_BYTES, start + REFUSED_LINE_BYTES))),
    };
  });
}

function reasonOf(toolId: ToolId, reasons: ReadonlyMap<ToolId, ToolRefusal>): ToolRefusal {
  const reason = reasons.get(toolId);
  if (reason === undefined) throw new RangeError(`the router refused ${toolId} without a reason`);
  return reason;
}

function toolRefusalOf(index: number): ToolRefusal {
  const refusal = TOOL_REFUSALS[index];
  if (refusal === undefined) throw new RangeError(`${index} is no reason for a refused tool`);
  return refusal;
}

function chargeFailureOf(index: number): ChargeFailure {
  const failure = CHARGE_FAILURES[index - 1];
  // The router cannot be upgraded, so another number means that this is not the router's ABI.
  if (failure === undefined) throw new RangeError(`${index} is no reason for a failed charge`);
  return failure;
}

import { type Hex, type Log, maxUint256, parseEventLogs, size, slice } from "viem";
import type { BatchRow } from "../../domain/batch/batch.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { routerAbi } from "../router/abi.ts";
import { encodeRows } from "../router/encodeRows.ts";
import { decodeSettle } from "../router/settleCall.ts";

// A row of which something was not charged: where it begins in the packed rows, and a bit for each line that was refused.
export type Exception = { row: bigint; lines: bigint };

const ALL_LINES = maxUint256;
const REFUSED_LINE_BYTES = 22;

// What the router remembers of a batch beside its calldata, from the events of its transaction. They name the row by its
// place and the refused lines by tool and amount.
export function exceptionsOf(calldata: Hex, logs: readonly Log[]): Exception[] {
  const { batchId, toolIds, rows } = decodeSettle(calldata);
  const found = new Map<bigint, bigint>();
  for (const { eventName, args } of parseEventLogs({ abi: routerAbi, logs: [...logs] })) {
    if (eventName === "ChargeFailed" && args.batchId === batchId) found.set(args.row, ALL_LINES);
    if (eventName !== "LinesRefused" || args.batchId !== batchId || found.get(args.row) === ALL_LINES) continue;
    const row = rows[placeOf(rows, args.row)];
    if (row === undefined) throw new RangeError(`batch ${batchId} has no row at ${args.row}`);
    found.set(args.row, refusedBits(row, toolIds, args.lines));
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([row, lines]) => ({ row, lines }));
}

// Which row begins at this byte of the packed rows.
function placeOf(rows: readonly BatchRow[], offset: bigint): number {
  let start = 0;
  return rows.findIndex((row) => {
    const isFound = BigInt(start) === offset;
    start += size(encodeRows([row]));
    return isFound;
  });
}

// Of equal lines the router refuses the last: what a tool may earn only shrinks along a row.
function refusedBits({ lines }: BatchRow, toolIds: readonly ToolId[], refused: Hex): bigint {
  const unmatched = Array.from({ length: size(refused) / REFUSED_LINE_BYTES }, (_, i) =>
    slice(refused, i * REFUSED_LINE_BYTES, (i + 1) * REFUSED_LINE_BYTES),
  );
  return lines.reduceRight((bits, { toolIndex, amount }, place) => {
    const line = `${toolIds[toolIndex]}${amount.toString(16).padStart(12, "0")}`;
    const at = unmatched.lastIndexOf(line as Hex);
    if (at < 0) return bits;
    unmatched.splice(at, 1);
    return bits | (1n << BigInt(place));
  }, 0n);
}

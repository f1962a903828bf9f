import { decodeFunctionData, encodeFunctionData, type Hex } from "viem";
import type { BatchRow } from "../../domain/batch.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { routerAbi } from "./abi.ts";
import { decodeRows, encodeRows } from "./encodeRows.ts";

// What a batch asks of the router: `previous` is the batch that its operator settled before.
export type SettleCall = { previous: Hex; root: Hex; toolIds: readonly ToolId[]; rows: readonly BatchRow[] };

// What the first batch of an operator follows.
export const NO_BATCH: Hex = `0x${"0".repeat(64)}`;

export function encodeSettle({ previous, root, toolIds, rows }: SettleCall): Hex {
  const args = [previous, root, toolIds, encodeRows(rows)] as const;
  return encodeFunctionData({ abi: routerAbi, functionName: "settle", args });
}

export function decodeSettle(calldata: Hex): SettleCall {
  const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: calldata });
  if (functionName !== "settle") throw new RangeError(`${functionName} settles no batch`);
  const [previous, root, toolIds, packed] = args;
  return { previous, root, toolIds: toolIds as readonly ToolId[], rows: decodeRows(packed) };
}

// The same batch after another one. What a batch will do when its turn comes is asked as if its turn were now. Whatever is no
// batch has no place among them, and stays as it is.
export function following(calldata: Hex, previous: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: routerAbi, data: calldata });
  if (functionName !== "settle") return calldata;
  const [, root, toolIds, packed] = args;
  return encodeFunctionData({ abi: routerAbi, functionName: "settle", args: [previous, root, toolIds, packed] });
}

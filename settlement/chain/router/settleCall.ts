import { LRUCache } from "lru-cache";
import {
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  slice,
  toFunctionSelector,
} from "viem";
import type { BatchRow } from "../../domain/batch/batch.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { routerAbi } from "./abi.ts";
import { decodeRows, encodeRows } from "./encodeRows.ts";

// What a batch asks of the router: `previous` is the batch that its operator settled before.
export type SettleCall = { previous: Hex; batchId: Hex; toolIds: readonly ToolId[]; rows: readonly BatchRow[] };

// What the first batch of an operator follows.
export const NO_BATCH: Hex = `0x${"0".repeat(64)}`;

const SETTLE = getAbiItem({ abi: routerAbi, name: "settle" });
// Hashed once: batches are decoded many times on their way.
const SELECTOR = toFunctionSelector(SETTLE);

export function encodeSettle({ previous, batchId, toolIds, rows }: SettleCall): Hex {
  return encode(previous, batchId, toolIds, encodeRows(rows));
}

// A batch on its way is looked at a dozen times for each of those that are planned after it.
const decoded = new LRUCache<Hex, SettleCall>({ max: 16 });

export function decodeSettle(calldata: Hex): SettleCall {
  if (!isSettle(calldata)) throw new RangeError(`${slice(calldata, 0, 4)} settles no batch`);
  const known = decoded.get(calldata);
  if (known !== undefined) return known;
  const [previous, batchId, toolIds, packed] = decode(calldata);
  const call = { previous, batchId, toolIds: toolIds as readonly ToolId[], rows: decodeRows(packed) };
  decoded.set(calldata, call);
  return call;
}

// The same batch after another one. What a batch will do when its turn comes is asked as if its turn were now. Whatever is no
// batch has no place among them, and stays as it is.
export function following(calldata: Hex, previous: Hex): Hex {
  if (!isSettle(calldata)) return calldata;
  const [, batchId, toolIds, packed] = decode(calldata);
  return encode(previous, batchId, toolIds, packed);
}

const isSettle = (calldata: Hex) => calldata.startsWith(SELECTOR);
const decode = (calldata: Hex) => decodeAbiParameters(SETTLE.inputs, slice(calldata, 4));
const encode = (...args: [Hex, Hex, readonly Hex[], Hex]) =>
  concatHex([SELECTOR, encodeAbiParameters(SETTLE.inputs, args)]);

import {
  type Address,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  keccak256,
  type Log,
  slice,
  toFunctionSelector,
  zeroHash,
} from "viem";
import { exceptionsOf } from "../court/exceptionsOf.ts";
import { routerAbi } from "./abi.ts";
import type { Wanted } from "./callsIn.ts";

const selector = toFunctionSelector(getAbiItem({ abi: routerAbi, name: "settle" }));
const WORD_DIGITS = 64;
// The root is the second word behind the selector.
const ROOT_AT = selector.length - "0x".length + WORD_DIGITS;
const DIGEST_BYTES = 27;

// The call that settled a batch, wherever in its transaction it is.
export const settleOf = (router: Address, batchId: Hex): Wanted => ({
  to: router,
  selector,
  isIt: (call) => call.slice(ROOT_AT, ROOT_AT + WORD_DIGITS) === batchId.slice(2).toLowerCase(),
});

// What the router keeps of a batch: who has settled it, with which calldata, and what of it was not charged, as the logs of its
// transaction say. Null if they do not belong together.
export function digestOf(operator: Address, calldata: Hex, logs: readonly Log[]): Hex | null {
  try {
    const exceptions = exceptionsOf(calldata, logs).reduce<Hex>(
      (before, { row, lines }) => keccak256(encodeAbiParameters(CHAINED, [before, row, lines])),
      zeroHash,
    );
    const digest = keccak256(encodeAbiParameters(KEPT, [operator, keccak256(calldata), exceptions]));
    return slice(digest, 0, DIGEST_BYTES);
  } catch {
    return null;
  }
}

const CHAINED = [{ type: "bytes32" }, { type: "uint256" }, { type: "uint256" }] as const;
const KEPT = [{ type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;

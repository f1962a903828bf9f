import { type Address, decodeFunctionData, getAbiItem, type Hex } from "viem";
import { routerAbi } from "../../../settlement/chain/router/abi.ts";
import { decodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { type Protocol, payout, type SettleResult, settle } from "./protocol.ts";
import { lower, type Transaction } from "./transaction.ts";

export const TRANSFER_GAS = 21_000n;
const BATCH_GAS = 80_000n;
const ROW_GAS = 30_000n;

// All that the engine sends to the router.
const CALLS = [getAbiItem({ abi: routerAbi, name: "settle" }), getAbiItem({ abi: routerAbi, name: "payout" })];

// Runs a transaction on a state that the caller throws away if it reverts.
export function runTransaction(
  protocol: Protocol,
  { from, to, calldata }: Pick<Transaction, "from" | "to" | "calldata">,
  timestamp: number,
): { gas: bigint; result: SettleResult | null; batchId: Hex | null } {
  if (to.toLowerCase() !== protocol.router) return { gas: TRANSFER_GAS, result: null, batchId: null };
  const { functionName, args } = decodeFunctionData({ abi: CALLS, data: calldata });
  if (functionName === "payout") {
    const [accounts] = args as [readonly Address[]];
    payout(protocol, accounts.map(lower));
    return { gas: BATCH_GAS, result: null, batchId: null };
  }
  const [previous, batchId, toolIds, rows] = args as readonly [Hex, Hex, readonly ToolId[], Hex];
  const gas = BATCH_GAS + ROW_GAS * BigInt(decodeRows(rows).length);
  return {
    gas,
    batchId,
    result: settle(protocol, { operator: from, previous, batchId, toolIds, rows, timestamp: BigInt(timestamp) }),
  };
}

// What the largest transaction takes that fits into a block.
export const maxGasOf = (maxRows: number) => BATCH_GAS + ROW_GAS * BigInt(maxRows);

// Whom a transaction charges, if it is a batch.
export function payersOf({ router }: Protocol, { to, calldata }: Pick<Transaction, "to" | "calldata">): Address[] {
  if (to.toLowerCase() !== router) return [];
  const { functionName, args } = decodeFunctionData({ abi: CALLS, data: calldata });
  return functionName === "settle" ? decodeRows(args[3]).map(({ payer }) => lower(payer)) : [];
}

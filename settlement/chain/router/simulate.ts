import { type Address, type DecodeErrorResultReturnType, decodeErrorResult, type Hex } from "viem";
import type { Simulation } from "../chain.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import { JsonRpcError, revertDataOf } from "../rpc/jsonRpc.ts";
import { receiptCourtAbi, routerAbi } from "./abi.ts";

// What nodes say if a call needs more gas than they allow. Like a refused send, it comes without a code that means it.
const NEEDS_TOO_MUCH_GAS = /gas required exceeds|out of gas|outofgas|exceeds[\w\s-]* gas|gas limit (?:is )?too high/i;
// Some nodes leave out what a reverted call returned.
const REVERTED = /revert/i;

const abi = [...routerAbi, ...receiptCourtAbi] as const;

// Estimates the gas of a transaction, which runs it: the answer is its cost or what the contract objects to. Everything
// that is neither is thrown, because it says nothing about the transaction. A batch that needs more gas than geth gives
// an estimate would look as if its last row broke it; batches are bounded far below that.
export async function simulate(
  endpoints: Endpoints,
  { from, to, calldata }: { from: Address; to: Address; calldata: Hex },
  maxTransactionGas: bigint,
): Promise<Simulation> {
  try {
    // Of the newest block, where the last batch of the operator was read: some nodes would take what waits in their mempool for
    // mined, and the batch before this one with it.
    const gas = BigInt((await endpoints.read("eth_estimateGas", [{ from, to, data: calldata }, "latest"])) as Hex);
    if (gas <= maxTransactionGas) return { kind: "ok", gas };
    return { kind: "too_large", reason: `it needs ${gas} gas; a transaction has at most ${maxTransactionGas}` };
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error;
    const data = revertDataOf(error);
    if (data !== undefined && data !== "0x") return objectionOf(data);
    if (NEEDS_TOO_MUCH_GAS.test(error.message)) return { kind: "too_large", reason: error.message };
    if (data === "0x" || REVERTED.test(error.message))
      return { kind: "reverts", reason: "it reverts without a reason" };
    throw error;
  }
}

function objectionOf(data: Hex): Simulation {
  let objection: DecodeErrorResultReturnType<typeof abi>;
  try {
    objection = decodeErrorResult({ abi, data });
  } catch {
    return { kind: "reverts", reason: `unknown error ${data}` };
  }
  switch (objection.errorName) {
    case "TokenUnavailable":
      return { kind: "unavailable", reason: "USDC is paused, or it has blacklisted the router" };
    case "EnforcedPause":
      return { kind: "unavailable", reason: "the router is paused" };
    case "NotOperator":
      return { kind: "operator_refused", reason: `${objection.args[0]} is not an operator` };
    case "OperatorLimitExceeded": {
      const [attempt, left] = objection.args;
      return {
        kind: "operator_refused",
        reason: `it charges ${attempt} while ${left} is left of the operator's limit`,
      };
    }
    case "BatchAlreadySettled":
      return { kind: "already_settled" };
    case "BatchOutOfOrder":
      return { kind: "out_of_order", head: objection.args[1] };
    case "BatchTooLarge":
      return { kind: "too_large", reason: `it has ${objection.args[0]} bytes, and ${objection.args[1]} are allowed` };
    case "ChargeUnexplained":
      return { kind: "row_breaks", payer: objection.args[0] };
    default:
      return { kind: "reverts", reason: `${objection.errorName}(${(objection.args ?? []).join(", ")})` };
  }
}

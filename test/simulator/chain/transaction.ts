import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { Signer } from "../../../settlement/chain/signer/signer.ts";

export type Transaction = {
  hash: Hex;
  from: Address;
  nonce: number;
  to: Address;
  calldata: Hex;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  // It is in the next block or never.
  fleeting?: boolean;
};

// Signed bytes are the transaction itself with its sender: nothing here depends on curves.
export function createSimulatedSigner(address: Address): Signer {
  return {
    address,
    async sign({ chainId, nonce, to, calldata, gasLimit, maxFeePerGas, maxPriorityFeePerGas }) {
      const fees = [gasLimit, maxFeePerGas, maxPriorityFeePerGas].map(String);
      const raw: Hex = `0x${Buffer.from(JSON.stringify([address, chainId, nonce, to, calldata, ...fees])).toString("hex")}`;
      return { raw, txHash: hashOf(raw) };
    },
  };
}

export function transactionOf(raw: Hex): Transaction {
  const fields = JSON.parse(Buffer.from(raw.slice(2), "hex").toString()) as string[];
  const [from, , nonce, to, calldata, gasLimit, maxFeePerGas, maxPriorityFeePerGas] = fields;
  return {
    hash: hashOf(raw),
    from: lower(from as Address),
    nonce: Number(nonce),
    to: to as Address,
    calldata: calldata as Hex,
    gasLimit: BigInt(gasLimit ?? 0),
    maxFeePerGas: BigInt(maxFeePerGas ?? 0),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas ?? 0),
  };
}

export const hashOf = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;
export const lower = (address: Address) => address.toLowerCase() as Address;

// Nodes want a tenth more of both fees before they let go of what they have.
export const isTenthMore = (next: Transaction, last: Transaction) =>
  next.maxFeePerGas * 10n >= last.maxFeePerGas * 11n &&
  next.maxPriorityFeePerGas * 10n >= last.maxPriorityFeePerGas * 11n;

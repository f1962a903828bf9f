import type { Address, Hex } from "viem";

export type TransactionToSign = {
  chainId: number;
  nonce: number;
  to: Address;
  calldata: Hex;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
};

// Whatever holds an operator's key: a keystore file, the environment, or a key management service.
export type Signer = {
  address: Address;
  sign(transaction: TransactionToSign): Promise<{ raw: Hex; txHash: Hex }>;
};

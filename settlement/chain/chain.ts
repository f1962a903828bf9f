import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../domain/batch.ts";
import type { MicroUsdc } from "../domain/money.ts";

// The chain as the engine sees it: a few questions and one verb. In production it is a set of RPC endpoints, in the
// simulator a model. An answer is never taken for more than it is: "no receipt" means that one endpoint knows none.
export type Chain = {
  chainId: number;
  router: Address;
  insurance: Address;
  // `maxGas` is the most that one transaction may use.
  head(): Promise<Block & { baseFeePerGas: bigint; maxGas: bigint }>;
  // The newest block that the chain will not undo.
  finalized(): Promise<Block>;
  // The hash of the canonical block at this height; null if this endpoint does not have it.
  blockHash(number: bigint): Promise<Hex | null>;
  receipt(txHash: Hex): Promise<TxReceipt | null>;
  // The receipt of the transaction that settled this root, whoever sent it.
  receiptOfBatch(root: Hex): Promise<TxReceipt | null>;
  // The number of transactions of `account` that are mined, and when a root was settled (zero if it was not): at the
  // head, or at a block, which an endpoint that does not have it cannot answer for.
  nonce(account: Address, at: "latest" | bigint): Promise<number>;
  settledAt(root: Hex, at: "latest" | bigint): Promise<bigint>;
  // Whether anybody can be charged at all at present: neither USDC nor the router is paused or barred.
  availability(): Promise<{ kind: "available" } | { kind: "unavailable"; reason: string }>;
  // The code behind the token, which its owner can exchange; null if the token is no proxy of a known kind.
  tokenImplementation(): Promise<Address | null>;
  balance(account: Address): Promise<bigint>;
  priorityFee(): Promise<bigint>;
  // What would happen if `from` sent this now.
  simulate(call: { from: Address; to: Address; calldata: Hex }): Promise<Simulation>;
  spendable(payers: readonly Address[]): Promise<Spendable[]>;
  credits(accounts: readonly Address[]): Promise<MicroUsdc[]>;
  send(raw: Hex): Promise<SendOutcome>;
  // Every settled batch between two blocks, both included.
  settledBatches(fromBlock: bigint, toBlock: bigint): Promise<{ root: Hex; txHash: Hex; blockNumber: bigint }[]>;
};

export type Block = { number: bigint; hash: Hex; timestampMs: number };

export type TxReceipt = {
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  status: "success" | "reverted";
  gasUsed: bigint;
  // Decoded from the router's logs; by receipts root, because a transaction may hold several batches.
  batches: ReadonlyMap<Hex, BatchOutcome>;
};

export type Simulation =
  | { kind: "ok"; gas: bigint }
  // USDC or the router is paused, or the token has blacklisted the router: nobody can be charged for now.
  | { kind: "unavailable"; reason: string }
  // The operator may not settle this, or not so much today.
  | { kind: "operator_refused"; reason: string }
  | { kind: "already_settled" }
  // One row breaks the whole batch.
  | { kind: "row_breaks"; payer: Address }
  | { kind: "too_large"; reason: string }
  | { kind: "reverts"; reason: string };

export type Spendable = {
  payer: Address;
  amount: MicroUsdc;
  balance: MicroUsdc;
  allowance: bigint;
  dailyCapLeft: bigint;
};

// What a node said to signed bytes. `unknown` covers time-outs, cut connections and answers that make no sense: the
// bytes may or may not be on their way.
export type SendOutcome =
  | { kind: "accepted" }
  | { kind: "already_known" }
  | { kind: "nonce_too_low" }
  | { kind: "nonce_too_high" }
  | { kind: "replacement_underpriced" }
  | { kind: "fee_too_low" }
  | { kind: "insufficient_funds" }
  // It fits into no block; the same bytes will never be accepted.
  | { kind: "too_large"; reason: string }
  | { kind: "unknown"; reason: string };

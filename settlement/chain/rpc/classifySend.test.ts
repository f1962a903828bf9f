import { describe, expect, it } from "vitest";
import { classifySend } from "./classifySend.ts";

const HASH = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";

// What nodes really say, by client.
const messages: readonly [client: string, message: string, kind: ReturnType<typeof classifySend>["kind"]][] = [
  ["geth", "already known", "already_known"],
  ["geth", "nonce too low: next nonce 5, tx nonce 4", "nonce_too_low"],
  ["geth", "nonce too high: address 0x01, tx: 9 state: 5", "nonce_too_high"],
  ["geth", "future transaction tries to replace pending transaction", "nonce_too_high"],
  ["geth", "gapped-nonce tx from delegated accounts", "nonce_too_high"],
  ["geth", "replacement transaction underpriced", "replacement_underpriced"],
  ["geth", "transaction underpriced", "fee_too_low"],
  ["geth", "transaction underpriced: gas tip cap 1, minimum needed 1000000", "fee_too_low"],
  [
    "geth",
    "max fee per gas less than block base fee: address 0x01, maxFeePerGas: 1, baseFee: 875000000",
    "fee_too_low",
  ],
  [
    "geth",
    "insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000",
    "insufficient_funds",
  ],
  ["geth", "insufficient funds for transfer", "insufficient_funds"],
  ["geth", "exceeds block gas limit", "too_large"],
  ["geth", "transaction gas limit too high (cap: 16777216, tx: 20000000)", "too_large"],
  ["geth", "oversized data: transaction size 140000, limit 131072", "too_large"],
  ["geth", "txpool is full", "unknown"],
  ["geth", "intrinsic gas too low: gas 20000, minimum needed 21000", "unknown"],
  ["geth", "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", "unknown"],
  ["geth", "max priority fee per gas higher than max fee per gas", "unknown"],
  ["geth", "invalid sender", "unknown"],
  ["op-geth", "failed to forward tx to sequencer, please try again. Error message: 'nonce too low'", "nonce_too_low"],
  ["op-geth", "failed to forward tx to sequencer, please try again. Error message: 'already known'", "already_known"],
  ["op-geth", "failed to forward tx to sequencer, please try again. Error message: 'EOF'", "unknown"],
  ["op-geth", "exceeds maximum per-transaction gas limit", "too_large"],
  ["reth", "already known", "already_known"],
  ["reth", `[${HASH}] already imported`, "already_known"],
  ["reth", "nonce too low: next nonce 7, tx nonce 6", "nonce_too_low"],
  ["reth", `[${HASH}] insufficient gas price to replace existing transaction`, "replacement_underpriced"],
  ["reth", "replacement transaction underpriced", "replacement_underpriced"],
  ["reth", `[${HASH}] fee cap 6 below chain minimum`, "fee_too_low"],
  ["reth", "max fee per gas less than block base fee", "fee_too_low"],
  ["reth", "insufficient funds for gas * price + value: have 0 want 42000", "insufficient_funds"],
  ["reth", "transaction gas limit is greater than the cap", "too_large"],
  ["reth", "transaction discarded outright due to pool size constraints", "unknown"],
  ["anvil", "transaction already imported", "already_known"],
  ["anvil", "nonce too low", "nonce_too_low"],
  ["anvil", "replacement transaction underpriced", "replacement_underpriced"],
  ["anvil", "max fee per gas less than block base fee", "fee_too_low"],
  ["anvil", "Insufficient funds for gas * price + value", "insufficient_funds"],
  ["erigon", "ALREADY_EXISTS: already known", "already_known"],
  ["erigon", "existing tx with same hash", "already_known"],
  ["erigon", "nonce too low", "nonce_too_low"],
  ["erigon", "could not replace existing tx", "replacement_underpriced"],
  ["erigon", "underpriced", "fee_too_low"],
  ["erigon", "fee too low", "fee_too_low"],
  ["erigon", "insufficient funds", "insufficient_funds"],
  ["erigon", "gas limit is too high", "too_large"],
  ["erigon", "rlp too long", "too_large"],
  ["erigon", "pending sub-pool is full", "unknown"],
  ["nethermind", "AlreadyKnown", "already_known"],
  ["nethermind", "OldNonce, Current nonce: 2, nonce of rejected tx: 1.", "nonce_too_low"],
  ["nethermind", "NonceGap, Future nonce. Expected nonce: 2", "nonce_too_high"],
  ["nethermind", "NonceTooFarInFuture", "nonce_too_high"],
  ["nethermind", "ReplacementNotAllowed", "replacement_underpriced"],
  ["nethermind", "FeeTooLow, FeePerGas needs to be higher than 1000, was 1", "fee_too_low"],
  ["nethermind", "FeeTooLowToCompete", "fee_too_low"],
  ["nethermind", "InsufficientFunds, Account balance: 0, cumulative cost: 21000", "insufficient_funds"],
  ["nethermind", "GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000", "too_large"],
  ["besu", "Known transaction", "already_known"],
  ["besu", "Nonce too low", "nonce_too_low"],
  ["besu", "Transaction nonce is too distant from current sender nonce", "nonce_too_high"],
  ["besu", "Replacement transaction underpriced", "replacement_underpriced"],
  ["besu", "Gas price below configured minimum gas price", "fee_too_low"],
  ["besu", "Upfront cost exceeds account balance", "insufficient_funds"],
  ["besu", "Transaction gas limit exceeds block gas limit", "too_large"],
  ["a provider", "Internal error", "unknown"],
  ["a provider", "", "unknown"],
];

describe("what a node says to a send", () => {
  it.each(messages)("%s: “%s” means %s", (_, message, kind) => {
    expect(classifySend(message).kind).toBe(kind);
  });

  it("is kept if it is not understood", () => {
    expect(classifySend("the sky is falling")).toEqual({ kind: "unknown", reason: "the sky is falling" });
  });
});

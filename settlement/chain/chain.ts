import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../domain/batch/batch.ts";
import type { AnswerProgress, Contest, ContestOnChain } from "../domain/batch/contest.ts";
import type { MicroUsdc } from "../domain/money.ts";
import type { BudgetKey, BudgetOnChain } from "../domain/payer/budget.ts";
import type { ToolId } from "../domain/toolId.ts";

// The chain as the engine sees it: a few questions and one verb. In production it is a set of RPC endpoints, in the
// simulator a model. An answer is never taken for more than it is: "no receipt" means that one endpoint knows none.
export type Chain = {
  chainId: number;
  router: Address;
  insurance: Address;
  // Where rows are contested; null if the router knows no such court.
  court: Address | null;
  // `maxGas` is the most that one transaction may use.
  head(): Promise<Block & { baseFeePerGas: bigint; maxGas: bigint }>;
  // The newest block that the chain will not undo.
  finalized(): Promise<Block>;
  // The hash of the canonical block at this height; null if this endpoint does not have it. With `below`, on the chain that this
  // block is part of: an endpoint that has another one in its place is not asked.
  blockHash(number: bigint, below?: Block): Promise<Hex | null>;
  receipt(txHash: Hex): Promise<TxReceipt | null>;
  // The same for one whose block will not be undone, as every endpoint shows it that does; `differs` says so if they do not agree.
  finalReceipt(txHash: Hex): Promise<FinalReceipt | { differs: string } | null>;
  // The calldata with which the router settled a batch in this transaction, wherever in it that is, or what a person brings for it:
  // only if it is what the router keeps a digest of. "hidden" if it cannot be found; null if no endpoint knows the transaction.
  calldataOf(txHash: Hex, batchId: Hex, brought?: Hex): Promise<Hex | "hidden" | null>;
  // The receipt of the transaction that settled this root, whoever sent it.
  receiptOfBatch(batchId: Hex): Promise<TxReceipt | null>;
  // The number of transactions of `account` that are mined, and when a root was settled (zero if it was not): at the
  // head, or at a block, which is named by its hash, so that no endpoint answers for another one of the same height. At "shared",
  // the newest block that all healthy endpoints have, nobody is alone with an answer: the one who is ahead could name any number.
  nonce(account: Address, at: "latest" | "shared" | Block): Promise<number>;
  settledAt(batchId: Hex, at: "latest" | Block): Promise<bigint>;
  // The batch that an operator has settled last; zeros before the first.
  headOf(operator: Address): Promise<Hex>;
  // What an operator may settle in 24 hours, and what is left of it; zero for who is no operator or suspended.
  operatorLimit(operator: Address): Promise<{ limit: bigint; left: bigint; bonded: boolean }>;
  // Whether an operator may settle anything, by the state of a final block: every endpoint is asked, and one that says so is enough.
  maySettle(operator: Address, at: Block): Promise<boolean>;
  // Whether anybody can be charged at all at present: neither USDC nor the router is paused or blacklisted.
  availability(): Promise<{ kind: "available" } | { kind: "unavailable"; reason: string }>;
  // The code behind the token, which its owner can exchange; null if the token is no proxy of a known kind.
  tokenImplementation(): Promise<Address | null>;
  balance(account: Address): Promise<bigint>;
  priorityFee(): Promise<bigint>;
  // What would happen if `from` sent this now.
  simulate(call: { from: Address; to: Address; calldata: Hex }): Promise<Simulation>;
  // Whether an account has signed something, with its key or by its code, as the router would decide now.
  isSigned(question: { signer: Address; digest: Hex; signature: Hex }): Promise<boolean>;
  // With what is known of these budgets of theirs.
  spendable(payers: readonly Address[], budgets?: readonly BudgetKey[]): Promise<Spendable[]>;
  // The same as each of several healthy endpoints says, with what has been asked back: for those about whom nobody is believed alone.
  spendableByEach(
    payers: readonly Address[],
    budgets: readonly BudgetKey[],
  ): Promise<(Spendable & { refunding: MicroUsdc })[][]>;
  // What payers have asked back of their prepaid balances and is still there to be drawn on, and from which second on it can be
  // paid; zero without a request.
  refunds(payers: readonly Address[]): Promise<Refund[]>;
  credits(accounts: readonly Address[]): Promise<MicroUsdc[]>;
  // What the registry says about tools, in the order asked; null for one that is not listed.
  listings(toolIds: readonly ToolId[]): Promise<(Listing | null)[]>;
  // What tools have at stake, in the order asked, zero for one that is not listed: at the newest block that all healthy endpoints have,
  // where nobody is alone with an answer. Null for one of which they do not say the same, or too few say anything.
  stakes(toolIds: readonly ToolId[]): Promise<(MicroUsdc | null)[]>;
  send(raw: Hex): Promise<SendOutcome>;
  // Every settled batch between two blocks, both included, that any endpoint shows.
  settledBatches(fromBlock: bigint, toBlock: bigint): Promise<SettledBatch[]>;
  // The same as one endpoint shows them, and every row that was contested, from the same logs.
  settledAndContested(
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<{ batches: readonly SettledBatch[]; contests: readonly Contest[] }>;
  // What became of a contested row by this block.
  contestOf(batchId: Hex, account: Address, at: Block): Promise<ContestOnChain>;
  // What `answerer` had shown for it by this block.
  progressOf(batchId: Hex, account: Address, answerer: Address, at: Block): Promise<AnswerProgress>;
};

export type SettledBatch = { batchId: Hex; operator: Address; txHash: Hex; blockNumber: bigint };

export type Block = { number: bigint; hash: Hex; timestampMs: number };

export type TxReceipt = {
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  status: "success" | "reverted";
  gasUsed: bigint;
  // Decoded from the router's logs; by the batch's id, because a transaction may hold several batches.
  batches: ReadonlyMap<Hex, BatchOutcome>;
};

// Whether nobody who has its block leaves it out. One that nobody else shows may have been made up.
export type FinalReceipt = TxReceipt & { isAgreed: boolean };

export type Simulation =
  | { kind: "ok"; gas: bigint }
  // USDC or the router is paused, or the token has blacklisted the router: nobody can be charged for now.
  | { kind: "unavailable"; reason: string }
  // The operator may not settle this, or not so much today.
  | { kind: "operator_refused"; reason: string }
  | { kind: "already_settled" }
  // It does not follow the operator's last batch, which is `head`.
  | { kind: "out_of_order"; head: Hex }
  // One row breaks the whole batch.
  | { kind: "row_breaks"; payer: Address }
  | { kind: "too_large"; reason: string }
  | { kind: "reverts"; reason: string };

export type Spendable = {
  payer: Address;
  // The block at which the chain was asked, and its time in seconds.
  atBlock: bigint;
  timestamp: bigint;
  // What could be taken from the payer's wallet: the least of the three below, or zero if nothing can be taken at all.
  amount: MicroUsdc;
  balance: MicroUsdc;
  allowance: bigint;
  dailyCapLeft: bigint;
  // What of the prepaid balance the payer has not asked back.
  prepaid: MicroUsdc;
  // Whether the payer can be charged under a budget alone.
  consentRequired: boolean;
  // Those that were asked for, by their ids.
  budgets: ReadonlyMap<bigint, BudgetOnChain>;
};

// The stake without what its owner has asked back, and the highest price that it is enough for.
export type Listing = { price: MicroUsdc; stake: MicroUsdc; maxPrice: MicroUsdc };

export type Refund = { amount: MicroUsdc; readyAt: bigint };

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

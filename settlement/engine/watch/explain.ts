import type { Address, Hex } from "viem";
import type { SettledBatch } from "../../chain/chain.ts";
import { following, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { EngineContext } from "../context.ts";

// Why the ledger does not stand by a batch that the chain has settled.
export type Unexplained = "not_in_ledger" | "abandoned" | "other_rows";

// Keys of this deployment: those that the ledger knows, and those that this process has.
export async function ourKeys({ ledger, signers }: EngineContext): Promise<Set<Address>> {
  const known = (await ledger.listOperators()).map(({ operator }) => operator);
  return new Set([...known, ...signers.map(({ address }) => address.toLowerCase() as Address)]);
}

// Null if the ledger stands by it. Other operators of the same router have ledgers of their own; what they settle is theirs to
// explain, unless it is ours.
export async function explain(
  context: EngineContext,
  { batchId, operator, txHash }: SettledBatch,
  keys: ReadonlySet<Address>,
): Promise<Unexplained | null> {
  const submission = await context.ledger.findSubmission(batchId);
  if (submission === null) return keys.has(operator.toLowerCase() as Address) ? "not_in_ledger" : null;
  if (submission.state.kind === "abandoned") return "abandoned";
  // What is final was compared line by line when it became so.
  if (submission.state.kind === "final" || (await hasRowsOf(context, submission, txHash))) return null;
  return "other_rows";
}

// Whether a transaction that has settled a batch charges what the batch was made to charge. A root does not say what is charged
// under it: whoever has an operator's key can settle a root that is on its way with rows of its own.
export async function hasRowsOf(
  { chain }: Pick<EngineContext, "chain">,
  submission: Submission,
  txHash: Hex,
): Promise<boolean> {
  if (submission.broadcasts.some((broadcast) => broadcast.txHash === txHash)) return true;
  const shown = await chain.calldataOf(txHash, submission.id);
  // Where no endpoint shows it, it may be what the ledger has: what a person brought, for instance.
  const calldata = shown === "hidden" ? await chain.calldataOf(txHash, submission.id, submission.calldata) : shown;
  if (calldata === null) {
    throw new SettlementError("chain_unavailable", `no endpoint shows transaction ${txHash} now`, { retryable: true });
  }
  // Whoever hides what it has charged has not charged what was asked for.
  if (calldata === "hidden") return false;
  return following(calldata, NO_BATCH) === following(submission.calldata, NO_BATCH);
}

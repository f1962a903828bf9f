import type { Block, TxReceipt } from "../chain/chain.ts";
import type { BatchOutcome } from "../domain/batch.ts";
import type { Inclusion, Submission } from "../domain/submission.ts";
import type { Lease } from "../ledger/ledger.ts";
import { type EngineContext, retryPolicy } from "./context.ts";
import { reconcileBatch } from "./reconcileBatch.ts";

// Follows what is on its way through inclusion and reorganisations to finality.
export async function confirm(context: EngineContext, lease: Lease, open: readonly Submission[]): Promise<void> {
  const finalized = await context.chain.finalized();
  for (const submission of open) {
    const { state } = submission;
    if (state.kind === "submitted" || state.kind === "planned") await look(context, lease, submission, finalized);
    if (state.kind === "included" || state.kind === "reverted") {
      await recheck(context, lease, submission, state, finalized);
    }
  }
}

// Looks for a submission on the chain, under any of the hashes it ever had.
async function look(context: EngineContext, lease: Lease, submission: Submission, finalized: Block): Promise<void> {
  const { chain, ledger, clock } = context;
  const receipt = await findReceipt(context, submission);
  if (receipt !== null) {
    await include(context, lease, submission, receipt);
    return;
  }
  if (submission.nonce === null || submission.broadcasts.length === 0) return;
  // No receipt is no verdict: the endpoint may lag. Only the state at one block that the chain will not undo can say that
  // the nonce was spent without the batch; then none of its bytes can ever be mined.
  if ((await chain.nonce(lease.operator, finalized.number)) <= submission.nonce) return;
  if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized.number)) !== 0n) return;
  // A batch that reverted and whose receipt nobody showed until it was final would look the same, and means the same for its
  // charges. A payout whose receipt was missed looks so, too; pushing it again does no harm.
  if (submission.kind === "settle") {
    context.report({ kind: "key_used_elsewhere", operator: lease.operator, nonce: submission.nonce });
  }
  await ledger.release(lease, submission.id, clock.nowMs());
  context.report({ kind: "released", id: submission.id });
}

async function findReceipt({ chain }: EngineContext, submission: Submission): Promise<TxReceipt | null> {
  for (const { txHash } of submission.broadcasts) {
    const receipt = await chain.receipt(txHash);
    if (receipt !== null) return receipt;
  }
  // A peer may have settled the same root with a transaction that this ledger never saw.
  const settled = submission.kind === "settle" && (await chain.settledAt(submission.id, "latest")) !== 0n;
  return settled ? chain.receiptOfBatch(submission.id) : null;
}

async function include(
  context: EngineContext,
  lease: Lease,
  submission: Submission,
  receipt: TxReceipt,
): Promise<void> {
  const { chain, ledger } = context;
  // A receipt of a block that has been left already is worth nothing.
  if ((await chain.blockHash(receipt.blockNumber)) !== receipt.blockHash) return;
  const { txHash, blockNumber, blockHash, gasUsed } = receipt;
  const inclusion = { txHash, blockNumber, blockHash, gasUsed };
  context.reached("before_inclusion");
  await ledger.recordInclusion(lease, submission.id, inclusion, receipt.status, outcomeOf(submission, receipt));
  context.reached("after_inclusion");
  context.report({ kind: "included", id: submission.id, txHash, gasUsed });
}

// Whether it is still where it was; and, once the chain will not undo that any more, what it means for the charges.
async function recheck(
  context: EngineContext,
  lease: Lease,
  submission: Submission,
  inclusion: Inclusion,
  finalized: Block,
): Promise<void> {
  const { chain, ledger, clock } = context;
  const canonical = await chain.blockHash(inclusion.blockNumber);
  if (canonical === null) return;
  if (canonical !== inclusion.blockHash) {
    await ledger.recordLoss(lease, submission.id);
    context.report({ kind: "lost", id: submission.id });
    return;
  }
  if (finalized.number < inclusion.blockNumber) return;
  const receipt = await chain.receipt(inclusion.txHash);
  if (receipt === null || receipt.blockHash !== inclusion.blockHash) return;
  context.reached("before_finalize");
  if (receipt.status === "reverted") {
    // It reverts as well if a peer has settled the same root before. Then the charges are paid, and must not be due again.
    if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized.number)) !== 0n) {
      const settled = await chain.receiptOfBatch(submission.id);
      if (settled !== null) await include(context, lease, submission, settled);
      return;
    }
    await ledger.release(lease, submission.id, clock.nowMs());
    context.report({ kind: "released", id: submission.id });
  } else {
    const outcome = outcomeOf(submission, receipt);
    const difference = reconcileBatch(submission, outcome);
    if (difference !== null) {
      await halt(context, `batch ${submission.id} in ${receipt.txHash}: ${difference}`);
      return;
    }
    await ledger.finalize(lease, submission.id, outcome, retryPolicy(context), clock.nowMs());
    context.report({ kind: "final", id: submission.id });
  }
  context.reached("after_finalize");
}

function outcomeOf(submission: Submission, receipt: TxReceipt): BatchOutcome | null {
  return submission.kind === "settle" ? (receipt.batches.get(submission.id) ?? null) : null;
}

// The chain and the ledger disagree, or the chain undid what it called final. Nobody submits until a person has looked.
export async function halt({ ledger, clock, report }: EngineContext, reason: string): Promise<void> {
  await ledger.halt(reason, clock.nowMs());
  report({ kind: "halted", reason });
}

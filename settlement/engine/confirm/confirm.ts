import type { Address, Hex } from "viem";
import type { Block, TxReceipt } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import type { Submission, SubmissionState } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import { type EngineContext, retryPolicy } from "../context.ts";
import { ranOutOfGas } from "../submit/gasLimit.ts";
import { hasRowsOf } from "../watch/explain.ts";
import { noteCarried } from "./noteCarried.ts";
import { type Anchor, lose, recheck } from "./recheck.ts";
import { reconcileBatch } from "./reconcileBatch.ts";

// Follows what is on its way through inclusion and reorgs to finality.
export function createConfirm(context: EngineContext) {
  const { chain, ledger, policy } = context;
  const anchors = new Map<Address, Anchor | null>();

  async function confirm(lease: Lease): Promise<void> {
    const finalized = await chain.finalized();
    anchors.set(lease.operator, await recheck(context, lease, anchors.get(lease.operator) ?? null));
    let done = 0;
    for (const { id } of await ledger.listMinedUpTo(lease.operator, finalized.number)) {
      if (done === policy.maxFinalPerTick) break;
      if (await conclude(context, lease, id, finalized)) done += 1;
    }
    for (const submission of await ledger.listUnmined(lease.operator)) {
      await look(context, lease, submission, finalized);
    }
  }

  return confirm;
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
  if ((await chain.nonce(lease.operator, finalized)) <= submission.nonce) return;
  if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized)) !== 0n) return;
  // A batch that reverted and whose receipt nobody showed until it was final would look the same, and means the same for its
  // charges. A payout whose receipt was missed looks so, too; pushing it again does no harm.
  if (submission.kind === "settle") {
    context.report({ kind: "key_used_elsewhere", operator: lease.operator, nonce: submission.nonce });
  }
  await ledger.abandon(lease, submission.id, clock.nowMs());
  context.report({ kind: "abandoned", id: submission.id });
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
  // A receipt of a block that has been left already is worth nothing, and neither is one without its logs.
  if ((await chain.blockHash(receipt.blockNumber)) !== receipt.blockHash) return;
  if (submission.kind === "settle" && receipt.status === "success" && !receipt.batches.has(submission.id)) return;
  // Somebody with a key has settled the root with other rows. What those have paid is for a person to take in.
  if (
    receipt.status === "success" &&
    submission.kind === "settle" &&
    !(await hasRowsOf(context, submission, receipt.txHash))
  ) {
    await halt(context, `batch ${submission.id} was settled in ${receipt.txHash} with other rows than the ledger has`);
    return;
  }
  const { txHash, blockNumber, blockHash, gasUsed } = receipt;
  const inclusion = { txHash, blockNumber, blockHash, gasUsed };
  if (submission.kind === "settle") await learnFrom(context, lease, submission, receipt);
  context.reached("before_inclusion");
  await ledger.recordInclusion(lease, submission.id, inclusion, receipt.status, outcomeOf(submission, receipt));
  context.reached("after_inclusion");
  context.report({ kind: "included", id: submission.id, txHash, gasUsed });
}

// A batch that ran out of gas was too large for what others did meanwhile: the next ones have half of its rows, and each that goes
// through lets the next have twice as many again.
async function learnFrom(
  { ledger, policy }: EngineContext,
  lease: Lease,
  { id, gasLimit }: Submission,
  { status, gasUsed }: TxReceipt,
): Promise<void> {
  if (status === "reverted") {
    if (!ranOutOfGas({ gasLimit, gasUsed })) return;
    const rows = (await ledger.findBatch(id))?.rows ?? 1;
    await ledger.setRowBound(lease, Math.max(1, Math.floor(rows / 2)));
    return;
  }
  const bound = await ledger.readRowBound(lease.operator);
  if (bound === null) return;
  await ledger.setRowBound(lease, 2 * bound < policy.bounds.maxRows ? 2 * bound : null);
}

// What a submission that the chain will not undo any more means for its charges. False if nothing can be said yet: then it
// holds up none of the others.
async function conclude(context: EngineContext, lease: Lease, id: Hex, finalized: Block): Promise<boolean> {
  const { chain, ledger, clock } = context;
  const submission = await ledger.findSubmission(id);
  if (submission === null || !isMined(submission.state)) return false;
  const { txHash, blockNumber, blockHash } = submission.state;
  const canonical = await chain.blockHash(blockNumber);
  if (canonical === null) return false;
  if (canonical !== blockHash) {
    await lose(context, lease, id);
    return true;
  }
  // Another endpoint may have named the final block. On its chain the inclusion must stand, and not on one that was left.
  if ((await chain.blockHash(blockNumber, finalized)) !== blockHash) return false;
  const receipt = await chain.finalReceipt(txHash);
  if (receipt !== null && "differs" in receipt) {
    context.report({ kind: "holding", operator: lease.operator, reason: receipt.differs });
    return false;
  }
  if (receipt === null || receipt.blockHash !== blockHash) return false;
  if (!receipt.isAgreed && freesCharges(submission, receipt)) {
    const reason = `rows of ${id} failed in ${txHash}, says one endpoint; another has that block and does not show it`;
    context.report({ kind: "holding", operator: lease.operator, reason });
    return false;
  }
  // One endpoint alone was asked when it was mined, and said what all of them do not say.
  if ((receipt.status === "success") !== (submission.state.kind === "included")) {
    await include(context, lease, submission, receipt);
    return true;
  }
  context.reached("before_finalize");
  if (receipt.status === "reverted") {
    // It reverts as well if a peer has settled the same root before. Then the charges are paid, and must not be due again.
    if (submission.kind === "settle" && (await chain.settledAt(submission.id, finalized)) !== 0n) {
      const settled = await chain.receiptOfBatch(submission.id);
      if (settled !== null) await include(context, lease, submission, settled);
      return settled !== null;
    }
    await ledger.abandon(lease, submission.id, clock.nowMs());
    context.report({ kind: "abandoned", id: submission.id });
  } else {
    const outcome = outcomeOf(submission, receipt);
    const difference = reconcileBatch(submission, outcome);
    if (difference !== null) {
      await halt(context, `batch ${submission.id} in ${receipt.txHash}: ${difference}`);
      return false;
    }
    const failedTools = outcome?.failed.length ? decodeSettle(submission.calldata).toolIds : [];
    const retry = await retryPolicy(context, failedTools);
    await ledger.finalize(lease, submission.id, outcome, retry, clock.nowMs());
    await noteCarried(context, submission, outcome);
    context.report({ kind: "final", id: submission.id });
  }
  context.reached("after_finalize");
  return true;
}

const isMined = (state: SubmissionState) => state.kind === "included" || state.kind === "reverted";

function outcomeOf(submission: Submission, receipt: TxReceipt): BatchOutcome | null {
  return submission.kind === "settle" ? (receipt.batches.get(submission.id) ?? null) : null;
}

// Whether anybody would be charged again for what this receipt says.
function freesCharges(submission: Submission, receipt: TxReceipt): boolean {
  const outcome = outcomeOf(submission, receipt);
  return (
    outcome !== null && (outcome.failed.length > 0 || outcome.refused.some(({ reason }) => reason === "earning_cap"))
  );
}

// The chain and the ledger disagree, or the chain undid what it called final. Nobody submits until a person has looked.
export async function halt({ ledger, clock, report, looking }: EngineContext, reason: string): Promise<void> {
  await ledger.halt(reason, clock.nowMs(), looking.lifted);
  report({ kind: "halted", reason });
}

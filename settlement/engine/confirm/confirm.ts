import type { Address, Hex } from "viem";
import type { TxReceipt } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import type { Submission, SubmissionState } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import { type EngineContext, retryPolicy } from "../context.ts";
import { ranOutOfGas } from "../submit/gasLimit.ts";
import { hasRowsOf } from "../watch/explain.ts";
import { checkOpenNonces } from "./checkOpenNonces.ts";
import { type Finality, finalityOf } from "./finality.ts";
import { findInstead, findReceipt } from "./findReceipt.ts";
import { noteCarried } from "./noteCarried.ts";
import { type Anchor, lose, recheck } from "./recheck.ts";
import { reconcileBatch } from "./reconcileBatch.ts";

// Follows what is on its way through inclusion and reorgs to finality.
export function createConfirm(context: EngineContext) {
  const { chain, ledger, policy } = context;
  const anchors = new Map<Address, Anchor | null>();

  async function confirm(lease: Lease): Promise<void> {
    const final = finalityOf(context, lease.operator, await chain.finalized());
    anchors.set(lease.operator, await recheck(context, lease, anchors.get(lease.operator) ?? null));
    let done = 0;
    const denied = new Set<Hex>();
    for (const { id } of await ledger.listMinedUpTo(lease.operator, final.block.number)) {
      if (done === policy.maxFinalPerTick) break;
      const conclusion = await conclude(context, lease, id, final);
      if (conclusion !== "unknown") done += 1;
      if (conclusion === "denied") denied.add(id);
    }
    for (const submission of await ledger.listUnmined(lease.operator)) {
      // Whoever made its receipt up would do so again. Its bytes are sent again first.
      if (!denied.has(submission.id)) await look(context, lease, submission, final);
    }
    await checkOpenNonces(context, lease, final);
  }

  return confirm;
}

// Looks for a submission on the chain, under any of the hashes it ever had.
async function look(context: EngineContext, lease: Lease, submission: Submission, final: Finality): Promise<void> {
  const { chain, ledger, clock } = context;
  const receipt = await findReceipt(context, submission);
  if (receipt !== null && !(await isRefuted(context, submission, receipt, final))) {
    await include(context, lease, submission, receipt);
    return;
  }
  if (submission.nonce === null || submission.broadcasts.length === 0) return;
  // No receipt is no verdict: the endpoint may lag. Only the state at one block that the chain will not undo can say that
  // the nonce was spent without the batch; then none of its bytes can ever be mined.
  if (!(await final.hasSpent(submission.nonce))) return;
  if (submission.kind === "settle" && (await chain.settledAt(submission.id, final.block)) !== 0n) {
    tellUnshown(context, lease, submission.id);
    return;
  }
  // One that reverted and whose receipt nobody showed until it was final would look the same, and means the same for its charges. What
  // a restored ledger has forgotten may be mined in the place of what fences it off, and is no alarm: the watch looks for it.
  if (submission.kind === "settle" || !(await isFenced(context, lease))) {
    context.report({ kind: "key_used_elsewhere", operator: lease.operator, nonce: submission.nonce });
  }
  await ledger.abandon(lease, submission.id, clock.nowMs());
  context.report({ kind: "abandoned", id: submission.id });
}

async function isFenced({ ledger }: EngineContext, { operator }: Lease): Promise<boolean> {
  const own = (await ledger.listOperators()).find((known) => known.operator === operator.toLowerCase());
  return own !== undefined && own.fence !== 0;
}

// Whether the state of a final block rules out what a receipt says. One endpoint alone may have made the receipt up; that what it
// says is not so, every endpoint that has the block must say. Only what is below the block can be ruled out by it.
async function isRefuted(
  { chain }: EngineContext,
  submission: Submission,
  { txHash, blockNumber, status }: Pick<TxReceipt, "txHash" | "blockNumber" | "status">,
  final: Finality,
): Promise<boolean> {
  if (blockNumber > final.block.number) return false;
  const { id, kind, nonce } = submission;
  if (nonce !== null && isOwn(submission, txHash) && !(await final.hasSpent(nonce))) return true;
  return kind === "settle" && status === "success" && (await chain.settledAt(id, final.block)) === 0n;
}

const isOwn = ({ broadcasts }: Submission, hash: Hex) => broadcasts.some(({ txHash }) => txHash === hash);

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

// What a submission that the chain will not undo any more means for its charges. "unknown" if nothing can be said yet: then it
// holds up none of the others. "denied" if what was said to be mined is not.
async function conclude(
  context: EngineContext,
  lease: Lease,
  id: Hex,
  final: Finality,
): Promise<"done" | "unknown" | "denied"> {
  const { chain, ledger, clock } = context;
  const submission = await ledger.findSubmission(id);
  if (submission === null || !isMined(submission.state)) return "unknown";
  const { txHash, blockNumber, blockHash } = submission.state;
  const canonical = await chain.blockHash(blockNumber);
  if (canonical === null) return "unknown";
  if (canonical !== blockHash) {
    await lose(context, lease, id);
    return "done";
  }
  // Another endpoint may have named the final block. On its chain the inclusion must stand, and not on one that was left.
  if ((await chain.blockHash(blockNumber, final.block)) !== blockHash) return "unknown";
  const receipt = await chain.finalReceipt(txHash);
  if (receipt !== null && "differs" in receipt) {
    context.report({ kind: "holding", operator: lease.operator, reason: receipt.differs });
    return "unknown";
  }
  // One endpoint alone was asked when it was mined, and named another block.
  if (receipt?.isAgreed && receipt.blockHash !== blockHash) {
    await include(context, lease, submission, receipt);
    return "done";
  }
  const isShown = receipt?.isAgreed === true;
  // What is final sets charges free, or ends them, so that nobody is believed about it alone. What was made up is put on its way again.
  const said = { txHash, blockNumber, status: submission.state.kind === "included" ? "success" : "reverted" } as const;
  if (!isShown) {
    if (await isRefuted(context, submission, said, final)) {
      await lose(context, lease, id);
      return "denied";
    }
    const instead = await findInstead(context, submission, txHash);
    if (instead !== null) {
      await include(context, lease, submission, instead);
      return "done";
    }
    // Its nonce is spent, and nobody shows that it has spent it. It is looked for once more, before it is given up.
    if (receipt === null && said.status === "reverted") {
      await lose(context, lease, id);
      return "denied";
    }
    const reason =
      receipt === null
        ? `no endpoint shows transaction ${txHash} of ${id}, which one said was mined in block ${blockNumber}`
        : `one endpoint shows transaction ${txHash} of ${id}; another has that block and does not show it`;
    context.report({ kind: "holding", operator: lease.operator, reason });
    return "unknown";
  }
  if (submission.nonce !== null && isOwn(submission, txHash) && !(await final.hasSpent(submission.nonce))) {
    const reason = `transaction ${txHash} of ${id} is final, says one endpoint; another has its nonce unspent`;
    context.report({ kind: "holding", operator: lease.operator, reason });
    return "unknown";
  }
  // One endpoint alone was asked when it was mined, and said what all of them do not say.
  if ((receipt.status === "success") !== (submission.state.kind === "included")) {
    await include(context, lease, submission, receipt);
    return "done";
  }
  context.reached("before_finalize");
  if (receipt.status === "reverted") {
    // It reverts as well if a peer has settled the same root before. Then the charges are paid, and must not be due again.
    if (submission.kind === "settle" && (await chain.settledAt(submission.id, final.block)) !== 0n) {
      const settled = await chain.receiptOfBatch(submission.id);
      if (settled === null) tellUnshown(context, lease, submission.id);
      else await include(context, lease, submission, settled);
      return settled === null ? "unknown" : "done";
    }
    await ledger.abandon(lease, submission.id, clock.nowMs());
    context.report({ kind: "abandoned", id: submission.id });
  } else {
    const outcome = outcomeOf(submission, receipt);
    const difference = reconcileBatch(submission, outcome);
    if (difference !== null) {
      await halt(context, `batch ${submission.id} in ${receipt.txHash}: ${difference}`);
      return "unknown";
    }
    const failedTools = outcome?.failed.length ? decodeSettle(submission.calldata).toolIds : [];
    const retry = await retryPolicy(context, failedTools);
    await ledger.finalize(lease, submission.id, outcome, retry, clock.nowMs());
    await noteCarried(context, submission, outcome);
    context.report({ kind: "final", id: submission.id });
  }
  context.reached("after_finalize");
  return "done";
}

// One endpoint that says so is enough to wait, and it may say so for good.
function tellUnshown({ report }: Pick<EngineContext, "report">, { operator }: Lease, id: Hex): void {
  const reason = `batch ${id} is settled by the final block, says an endpoint, and none shows how; it waits`;
  report({ kind: "holding", operator, reason });
}

const isMined = (state: SubmissionState) => state.kind === "included" || state.kind === "reverted";

function outcomeOf(submission: Submission, receipt: TxReceipt): BatchOutcome | null {
  return submission.kind === "settle" ? (receipt.batches.get(submission.id) ?? null) : null;
}

// The chain and the ledger disagree, or the chain undid what it called final. Nobody submits until a person has looked.
export async function halt({ ledger, clock, report, looking }: EngineContext, reason: string): Promise<void> {
  await ledger.halt(reason, clock.nowMs(), looking.lifted);
  report({ kind: "halted", reason });
}

import type { Address, Hex } from "viem";
import type { Signer } from "../../chain/signer/signer.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";
import { marketFees, replacementFees } from "./fees.ts";
import { send } from "./send.ts";
import { signAndSave } from "./submit.ts";

// Since which block the oldest transaction of an operator is known to wait.
export type Waits = Map<Address, { txHash: Hex; sinceBlock: bigint }>;

// Keeps what is submitted and not mined on its way: the same bytes are sent again, because a mempool may have dropped them,
// and the transaction that all others wait for is replaced by a higher-fee one when it is stuck.
export async function rebroadcast(
  context: EngineContext,
  lease: Lease,
  signer: Signer,
  unmined: readonly Submission[],
  waits: Waits,
): Promise<void> {
  const { clock, policy } = context;
  const waiting = unmined.filter(({ state, broadcasts }) => state.kind === "submitted" && broadcasts.length > 0);
  for (const [position, submission] of waiting.entries()) {
    const last = submission.broadcasts.at(-1);
    if (last === undefined) continue;
    const ageMs = ageAt(clock.nowMs(), last.signedAtMs);
    if (ageMs < policy.rebroadcastMs) continue;
    const outcome = await send(context, submission);
    if (outcome.kind === "insufficient_funds") {
      // a higher-fee offer would need even more.
      const reason = `operator ${lease.operator} is out of ETH for gas; send it some`;
      context.report({ kind: "holding", operator: lease.operator, reason });
      continue;
    }
    // The nonce is spent, by this or by something else; confirming finds out which.
    if (outcome.kind === "nonce_too_low") continue;
    // The mempool holds higher-fee bytes of ours, or the base fee has risen above these: either way the offer is too low.
    const underpriced = outcome.kind === "replacement_underpriced" || outcome.kind === "fee_too_low";
    if (position > 0) continue;
    const passed = await blocksPassed(context, lease.operator, last.txHash, waits);
    const stuck = ageMs >= policy.stuckMs && passed >= policy.stuckBlocks;
    // Blocks have become smaller since it was signed. With less gas it is mined, or at least reverts and is made again.
    const tooLarge = outcome.kind === "too_large";
    if (underpriced || stuck || tooLarge) await replace(context, lease, signer, submission, tooLarge);
  }
}

// What a clock that was ahead has signed is as old as can be: nobody knows how old, and all that comes after it waits for it.
const ageAt = (nowMs: number, signedAtMs: number) =>
  signedAtMs > nowMs ? Number.POSITIVE_INFINITY : nowMs - signedAtMs;

async function blocksPassed({ chain }: EngineContext, operator: Address, txHash: Hex, waits: Waits): Promise<bigint> {
  const { number } = await chain.head();
  const wait = waits.get(operator);
  if (wait?.txHash === txHash) return number - wait.sinceBlock;
  waits.set(operator, { txHash, sinceBlock: number });
  return 0n;
}

async function replace(
  context: EngineContext,
  lease: Lease,
  signer: Signer,
  submission: Submission,
  tooLarge: boolean,
): Promise<void> {
  const { chain, policy } = context;
  const last = submission.broadcasts.at(-1);
  if (last === undefined) return;
  const [head, tip] = await Promise.all([chain.head(), chain.priorityFee()]);
  const market = marketFees(head.baseFeePerGas, tip, policy.maxFeePerGasCeiling);
  const fees = replacementFees(market, last, policy.maxFeePerGasCeiling);
  if (fees === null) {
    const reason = `transaction ${last.txHash} is stuck and a higher-fee one would be above the fee ceiling`;
    context.report({ kind: "holding", operator: lease.operator, reason });
    return;
  }
  const gasLimit = tooLarge && head.maxGas < submission.gasLimit ? head.maxGas : submission.gasLimit;
  const replaced = await signAndSave(context, lease, signer, { ...submission, gasLimit }, fees);
  context.report({ kind: "replaced", id: submission.id, maxFeePerGas: fees.maxFeePerGas });
  await send(context, replaced);
}

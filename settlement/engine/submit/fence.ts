import type { Signer } from "../../chain/signer/signer.ts";
import { fillerOf, type Submission } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";
import { submit } from "./submit.ts";

// Where the ledger is, compared with where it was. After a restore or a failover it may lack what was signed last. `nowMs` is the time
// there, if that is another clock than ours.
export async function checkHome({ ledger, looking, report }: EngineContext) {
  const check = await ledger.noteHome();
  const moved = check.kind === "moved" ? { from: check.from, to: check.to } : null;
  if (moved !== null) report({ kind: "ledger_moved", ...moved });
  looking.home = check.home;
  return { nowMs: check.nowMs, moved };
}

// So many times as much as may be in flight: twice that lies before the fence, and what is in flight before it.
const MAX_LOOKED_AT = 4;

// Whether anything may be planned. A ledger that was restored does not know all bytes that its keys have signed; those may still
// be mined, with charges that the ledger would settle again under another root. So every nonce on which such bytes can wait is
// filled, and only when all of them are spent for good, those of every key, is anything planned: what was mined instead of a
// filler has been seen by the watch by then, and halts.
export async function fence(
  context: EngineContext,
  lease: Lease,
  signer: Signer,
  unmined: readonly Submission[],
): Promise<{ kind: "open" } | { kind: "fenced"; reason: string }> {
  const { ledger, chain, policy, clock } = context;
  const operators = await ledger.listOperators();
  const own = operators.find(({ operator }) => operator === lease.operator.toLowerCase());
  const other = operators.find(({ operator, fence }) => fence !== 0 && operator !== own?.operator);
  if (own === undefined || own.fence === 0) return other === undefined ? { kind: "open" } : fencedOff(other.operator);

  // What is written down is asked of every endpoint, at a block that all of them have.
  const [chainNonce, finalNonce] = await Promise.all([
    chain.nonce(lease.operator, "shared"),
    chain.finalized().then((finalized) => chain.nonce(lease.operator, finalized)),
  ]);
  // Set by a node that lagged, a fence is too low: what is mined above it shows that.
  if (own.fence < 0 || chainNonce > own.fence) {
    // No more than this is sent before something of it is mined, and as much again may be on its way back from blocks that a
    // reorg has just left.
    const reach = Math.max(own.nextNonce, chainNonce) + 2 * policy.maxInFlight;
    await ledger.setFence(lease, reach, chainNonce);
    return fencedOff(own.operator);
  }
  if (finalNonce >= own.fence) {
    // Not in this tick: the watch has not looked since.
    await ledger.removeFence(lease, own.fence);
    return fencedOff(own.operator);
  }
  const taken = new Set(unmined.filter(({ state }) => state.kind !== "planned").map(({ nonce }) => nonce));
  // A node that names a nonce of long ago must not have this go through all that were spent since.
  const end = Math.min(own.fence, chainNonce + MAX_LOOKED_AT * policy.maxInFlight);
  for (let nonce = chainNonce; nonce < end; nonce++) {
    if (taken.has(nonce)) continue;
    const owner = await ledger.planFiller(lease, { ...fillerOf(lease.operator, nonce), nonce }, clock.nowMs());
    // Whatever else has this nonce is on its way, or was final before the chain undid it. A payout or an answer that had its nonce
    // and was never signed fills it as well, and charges nobody: all that comes after it waits for it. A batch is taken apart.
    if (owner.kind !== "settle" && owner.state.kind === "planned") await submit(context, lease, signer, owner);
  }
  return fencedOff(own.operator);
}

const fencedOff = (operator: string) => ({
  kind: "fenced" as const,
  reason:
    `the ledger was restored, failed over or took in a batch that it did not make; what it may not know is fenced off until the nonces of ${operator} are final; ` +
    "if no process has that key any more, suspend it and run reconcile --retire",
});

import type { Address } from "viem";
import { fillerOf, type Submission } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

// If the chain waits for a nonce that no submission has, everything after it waits permanently. That happens when a
// transaction of somebody else's with the same key was counted and then dropped. An empty transfer to oneself fills it.
export async function fillNonceGap(
  context: EngineContext,
  lease: Lease,
  unmined: readonly Submission[],
): Promise<Submission | null> {
  const { ledger, chain, clock } = context;
  const nonces = unmined.map(({ nonce }) => nonce).filter((nonce) => nonce !== null);
  if (nonces.length === 0) return null;
  const next = await chain.nonce(lease.operator, "latest");
  if (next >= Math.min(...nonces)) return null;
  const filler = fillerOf(lease.operator, next);
  const owner = await ledger.planSubmission(lease, filler, clock.nowMs());
  if (owner.state.kind !== "abandoned" && !isArchived(owner)) return isSpent(owner) ? null : owner;
  if (!(await isUnspent(context, lease.operator, next))) return null;
  return ledger.planFiller(lease, { ...filler, nonce: next }, clock.nowMs());
}

// A batch that a peer had settled may be in the archive before anything waits behind its nonce. Its bytes are there as well, and nobody
// signs for it again.
const isArchived = ({ kind, state, calldata }: Submission) =>
  kind === "settle" && state.kind === "final" && calldata.length === 0;

// What was abandoned had its nonce spent in a final block. If it is not spent in the newest one, the chain has undone that block, and
// everything behind the nonce waits for it. Should the bytes that it had come back instead of a filler, whatever was planned since
// names another batch before it, and reverts.
async function isUnspent({ ledger, chain }: EngineContext, operator: Address, nonce: number): Promise<boolean> {
  const [finalized, last] = await Promise.all([chain.finalized(), ledger.readFinalized()]);
  if (last !== null && finalized.number < last.number) return false;
  return (await chain.nonce(operator, finalized)) <= nonce;
}

// What was mined with its own bytes, or abandoned, has its nonce spent: then the answer was stale, and there is no gap. Not so
// a batch that a peer has settled with another transaction: its own bytes, though they revert, fill the nonce.
function isSpent({ state, broadcasts }: Submission): boolean {
  if (state.kind === "abandoned") return true;
  return "txHash" in state && broadcasts.some(({ txHash }) => txHash === state.txHash);
}

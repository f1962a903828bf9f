import { fillerOf, type Submission } from "../../domain/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

// If the chain waits for a nonce that no submission has, everything after it waits forever. That happens when a
// transaction of somebody else's with the same key was counted and then dropped. An empty transfer to oneself fills it.
export async function fillNonceGap(
  { ledger, chain, clock }: EngineContext,
  lease: Lease,
  unmined: readonly Submission[],
): Promise<Submission | null> {
  const nonces = unmined.map(({ nonce }) => nonce).filter((nonce) => nonce !== null);
  if (nonces.length === 0) return null;
  const next = await chain.nonce(lease.operator, "latest");
  if (next >= Math.min(...nonces)) return null;
  const owner = await ledger.planSubmission(lease, fillerOf(lease.operator, next), clock.nowMs());
  return isSpent(owner) ? null : owner;
}

// What was mined with its own bytes, or abandoned, has its nonce spent: then the answer was stale, and there is no gap. Not so
// a batch that a peer has settled with another transaction: its own bytes, though they revert, fill the nonce.
function isSpent({ state, broadcasts }: Submission): boolean {
  if (state.kind === "abandoned") return true;
  return "txHash" in state && broadcasts.some(({ txHash }) => txHash === state.txHash);
}

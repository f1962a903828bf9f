import { createHash } from "node:crypto";
import type { Hex } from "viem";
import type { Submission } from "../domain/submission.ts";
import type { Lease } from "../ledger/ledger.ts";
import type { EngineContext } from "./context.ts";

// If the chain waits for a nonce that no submission has, everything after it waits for ever. That happens when a
// transaction of somebody else's with the same key was counted and then dropped. An empty transfer to oneself fills it.
export async function fillGap(
  { ledger, chain, clock }: EngineContext,
  lease: Lease,
  open: readonly Submission[],
): Promise<Submission | null> {
  const nonces = open.map(({ nonce }) => nonce).filter((nonce) => nonce !== null);
  if (nonces.length === 0) return null;
  const next = await chain.nonce(lease.operator, "latest");
  if (next >= Math.min(...nonces)) return null;
  const id: Hex = `0x${createHash("sha256").update(`fill ${lease.operator} ${next}`).digest("hex")}`;
  return ledger.planSubmission(
    lease,
    { id, kind: "fill", to: lease.operator, calldata: "0x", nonce: next },
    clock.nowMs(),
  );
}

import { createHash } from "node:crypto";
import { encodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../chain/abi.ts";
import type { Submission } from "../domain/submission.ts";
import type { Lease } from "../ledger/ledger.ts";
import type { EngineContext } from "./context.ts";

// Plans to push the credits of developers who have earned enough to be worth the gas. Null if nobody has. A developer
// who is refused by the token keeps the credit, so pushing again is harmless, and so is a push that comes twice.
export async function planPayout(context: EngineContext, lease: Lease): Promise<Submission | null> {
  const { ledger, chain, clock, policy } = context;
  const payees = await ledger.payees();
  const credits = await chain.credits(payees);
  const accounts = payees
    .filter((_, i) => (credits[i] ?? 0n) >= policy.payoutThreshold)
    .slice(0, policy.maxPayoutsPerTransaction);
  if (accounts.length === 0) return null;
  const calldata = encodeFunctionData({ abi: routerAbi, functionName: "payout", args: [accounts] });
  const nowMs = clock.nowMs();
  const id: Hex = `0x${createHash("sha256").update(`payout ${lease.operator} ${nowMs}`).digest("hex")}`;
  return ledger.planSubmission(lease, { id, kind: "payout", to: chain.router, calldata, nonce: null }, nowMs);
}

import { createHash } from "node:crypto";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../../chain/router/abi.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

export type Payouts = ReturnType<typeof createPayouts>;

// Pushes the credits of developers who have earned enough to be worth the gas: every so often to all of them, in as many
// transactions as that takes. A developer who is refused by the token keeps the credit, so pushing again is harmless, and so
// is a push that comes twice.
export function createPayouts({ ledger, chain, clock, policy }: EngineContext) {
  let lastAtMs = Number.NEGATIVE_INFINITY;
  // Who is still to be paid of those who were due the last time.
  let due: Address[] = [];

  // The next transaction, or null if nobody is due now.
  async function planNext(lease: Lease): Promise<Submission | null> {
    const nowMs = clock.nowMs();
    if (due.length === 0) {
      if (nowMs - lastAtMs < policy.payoutEveryMs) return null;
      due = await findDue();
      lastAtMs = nowMs;
    }
    const accounts = due.slice(0, policy.maxPayoutsPerTransaction);
    if (accounts.length === 0) return null;
    const calldata = encodeFunctionData({ abi: routerAbi, functionName: "payout", args: [accounts] });
    const id: Hex = `0x${createHash("sha256").update(`payout ${lease.operator} ${nowMs} ${accounts[0]}`).digest("hex")}`;
    const planned = { id, kind: "payout", to: chain.router, calldata, nonce: null } as const;
    const submission = await ledger.planSubmission(lease, planned, nowMs);
    due = due.slice(accounts.length);
    return submission;
  }

  async function findDue(): Promise<Address[]> {
    const payees = await ledger.listPayees();
    const credits = await chain.credits(payees);
    return payees.filter((_, i) => (credits[i] ?? 0n) >= policy.payoutThreshold);
  }

  return { planNext };
}

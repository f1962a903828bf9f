import type { Submission } from "../domain/submission.ts";
import type { Lease } from "../ledger/ledger.ts";
import { type EngineContext, retryPolicy } from "./context.ts";
import { net } from "./net.ts";

// Makes one batch out of what is due, or says that there is nothing to do or a reason to wait.
export async function plan(
  context: EngineContext,
  lease: Lease,
  maxRows: number,
): Promise<{ kind: "planned"; submission: Submission } | { kind: "nothing_due" } | { kind: "hold"; reason: string }> {
  const { ledger, chain, clock, policy } = context;
  context.reached("before_plan");
  const due = await ledger.duePayers(clock.nowMs(), maxRows);
  if (due.length === 0) return { kind: "nothing_due" };
  const accounts = due.map(({ chargedTo }) => chargedTo);
  const spendable = await chain.spendable(accounts);
  // Asked after the payers, so that a payer who could not pay because of a pause is never taken for one who would not.
  const availability = await chain.availability();
  if (availability.kind === "unavailable") return { kind: "hold", reason: availability.reason };

  const spendableOf = new Map(spendable.map((entry) => [entry.payer, entry]));
  const bounds = { ...policy.bounds, maxRows };
  const submission = await ledger.planBatch(
    lease,
    {
      accounts,
      maxCharges: bounds.maxCharges,
      router: chain.router,
      net: (charges) => net(charges, spendableOf, bounds),
      retry: retryPolicy(context),
    },
    clock.nowMs(),
  );
  context.reached("after_plan");
  if (submission === null) return { kind: "nothing_due" };
  context.report({ kind: "planned", root: submission.id, operator: lease.operator });
  return { kind: "planned", submission };
}

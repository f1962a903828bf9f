import type { Address } from "viem";
import type { Submission } from "../domain/submission.ts";
import type { DuePayer, Lease } from "../ledger/ledger.ts";
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
  const accounts = wholeAccounts(due, policy.bounds.maxCharges);
  const spendable = await chain.spendable(accounts);
  // While nobody can be charged, a batch would only be simulated in vain.
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

// A payer costs a batch the same however many charges are netted into its row. So a batch takes everything that is due of
// as many accounts as fit, rather than a little of each; only an account with more than a whole batch is divided.
function wholeAccounts(due: readonly DuePayer[], maxCharges: number): Address[] {
  let charges = 0;
  const fits = due.filter((account) => {
    charges += account.charges;
    return charges <= maxCharges;
  });
  return (fits.length > 0 ? fits : due.slice(0, 1)).map(({ chargedTo }) => chargedTo);
}

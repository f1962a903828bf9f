import type { Address } from "viem";
import { NO_BATCH } from "../../chain/router/settleCall.ts";
import { createConfirm, halt } from "../confirm/confirm.ts";
import type { EngineContext } from "../context.ts";
import { findUnknown } from "./adopt.ts";

export type Retirement =
  // How many transactions of it were given up.
  | { kind: "retired"; submissions: number }
  // Nothing was changed; `reason` says what is to be done first.
  | { kind: "refused"; reason: string };

const MAX_OPEN = 100_000;
// To find what is mined, and to conclude it.
const CONFIRMATIONS = 2;

// A copy may be older than the first use of a key that is gone by now: then nobody here knows that its batches are ours, but for the
// person who names it. What it has settled since is found, and taken in, from then on.
export async function introduce(context: EngineContext, operator: Address): Promise<void> {
  const { ledger, chain, policy, holder } = context;
  const key = lower(operator);
  if (await isKnown(context, key)) return;
  if ((await maySettle(context, key)) || (await chain.headOf(key)) === NO_BATCH) return;
  const lease = await ledger.acquireLease(key, holder, policy.leaseMs);
  if (lease !== null) await ledger.releaseLease(lease);
}

// Gives up a key that no process has any more. What it has signed, remembered or forgotten, may be mined at any time, and nobody can
// fill its nonces; so everything that it has fenced off or on its way would wait for good. The way out is the router itself: once a
// final block shows that the key may settle nothing, none of its bytes can charge anybody, and what it was to settle is due again.
// That rests on nobody giving the key a limit again, for which the watch looks from then on.
export async function retire(context: EngineContext, operator: Address): Promise<Retirement> {
  const { ledger, chain, signers, policy, clock, holder } = context;
  const key = lower(operator);
  if (signers.some(({ address }) => lower(address) === key))
    return refused("its key is in the configuration; take it out of that of every process first");
  if (await maySettle(context, key))
    return refused("it may still settle; let the guardian suspend it, and run this again once that is final");
  if (!(await isKnown(context, key))) return refused("neither the ledger nor the chain knows it as an operator");
  const finalized = await chain.finalized();
  const lease = await ledger.acquireLease(key, holder, policy.leaseMs, true);
  if (lease === null) return refused("a process still writes for it; stop that, and wait for its lease to run out");
  try {
    // What was mined before it was suspended comes to its end first.
    const confirm = createConfirm({ ...context, policy: { ...policy, maxFinalPerTick: MAX_OPEN } });
    for (let i = 0; i < CONFIRMATIONS; i++) await confirm(lease);
    for (const { id, kind, state } of await ledger.listOpenSubmissions(key, MAX_OPEN)) {
      if (state === "included" || state === "reverted")
        return refused(`submission ${id} is mined and not final yet; run this again`);
      if (kind !== "settle") continue;
      const seen = await Promise.all([chain.settledAt(id, finalized), chain.settledAt(id, "latest")]);
      if (seen.some((settledAt) => settledAt !== 0n))
        return refused(`batch ${id} is settled, and no endpoint shows how; run this again`);
    }
    // Before what is unknown is asked for: nothing is taken in while batches are on their way.
    const submissions = await ledger.retire(lease, clock.nowMs());
    const unknown = (await findUnknown(context)).find((batch) => lower(batch.operator) === key);
    if (unknown !== undefined) return refused(`batch ${unknown.batchId} must be taken in first; --adopt does that`);
    await ledger.liftFence(lease);
    return { kind: "retired", submissions };
  } finally {
    await ledger.releaseLease(lease);
  }
}

// By the newest final block, and by the head, where somebody may have given it a limit again.
async function maySettle({ chain }: EngineContext, key: Address): Promise<boolean> {
  return (await chain.maySettle(key, await chain.finalized())) || (await chain.operatorLimit(key)).limit > 0n;
}

async function isKnown({ ledger }: EngineContext, key: Address): Promise<boolean> {
  return (await ledger.listOperators()).some(({ operator }) => operator === key);
}

const lower = (address: Address) => address.toLowerCase() as Address;

const refused = (reason: string): Retirement => ({ kind: "refused", reason });

// A key that was given up must never settle again: whatever it had signed may still be about, and has been charged by others since.
export async function checkRetired(context: EngineContext): Promise<void> {
  const { ledger, chain, signers, report } = context;
  for (const { operator, retired } of await ledger.listOperators()) {
    if (!retired) continue;
    if ((await chain.operatorLimit(operator)).limit > 0n)
      await halt(context, `${operator} was retired, and may settle again; let the guardian suspend it at once`);
    if (signers.some(({ address }) => lower(address) === operator))
      report({ kind: "holding", operator, reason: "it was retired; take its key out of the configuration" });
  }
}

import type { Address, Hex } from "viem";
import type { Spendable } from "../chain/chain.ts";
import type { Signer } from "../chain/signer.ts";
import type { ContentHashes } from "../domain/charge.ts";
import { SettlementError } from "../domain/errors.ts";
import type { MicroUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import type { Turn } from "../domain/turn.ts";
import type { Lease } from "../ledger/ledger.ts";
import { audit } from "./audit.ts";
import { confirm, halt } from "./confirm.ts";
import type { EngineContext } from "./context.ts";
import { fillGap } from "./fillGap.ts";
import { planPayout } from "./payout.ts";
import { plan } from "./plan.ts";
import { preflight } from "./preflight.ts";
import { prove } from "./prove.ts";
import { rebroadcast, type Waits } from "./rebroadcast.ts";
import { submit } from "./submit.ts";

export type Engine = ReturnType<typeof createEngine>;

// The way of a call, as verbs: preflight, hold, capture or void, and then `tick`, which takes what is due to the chain
// and brings back what became of it. Everything that must survive is in the ledger, so a new engine on the same ledger
// goes on where an old one stopped.
export function createEngine(context: EngineContext, readSpendable: (payer: Address) => Promise<Spendable>) {
  const { ledger, chain, clock, policy } = context;
  // How many rows the next batch may have: halved when a batch was too large, doubled when one went through.
  let maxRows = policy.bounds.maxRows;
  let lastPayoutAtMs = Number.NEGATIVE_INFINITY;
  let lastTokenCheckAtMs = Number.NEGATIVE_INFINITY;
  let lastFinalized: { number: bigint; hash: Hex } | null = null;
  const leases = new Map<Address, Lease>();
  const waits: Waits = new Map();

  const check = (payer: Address | null, amount: MicroUsdc) => preflight(ledger, readSpendable, payer, amount);

  async function startSession(id: string, payer: Address | null, maxSpend: MicroUsdc, ttlMs = policy.sessionTtlMs) {
    const answer = await check(payer, maxSpend);
    if (answer.code !== "ok" || payer === null) return { kind: "refused" as const, preflight: answer };
    const nowMs = clock.nowMs();
    return ledger.openSession({ id, payer, maxSpend, expiresAtMs: nowMs + ttlMs }, nowMs);
  }

  async function hold(call: { callId: string; sessionId: string; toolId: ToolId; method: string; amount: MicroUsdc }) {
    const session = await ledger.session(call.sessionId);
    if (session === null) return { kind: "session_not_found" as const };
    const answer = await check(session.payer, call.amount);
    if (answer.code !== "ok") return { kind: "refused" as const, preflight: answer, session };
    return ledger.hold(call, clock.nowMs());
  }

  // One round of settlement for every operator key that this process has, or can get, the lease of.
  async function tick(): Promise<void> {
    await ledger.sweepSessions(policy.flush, policy.holdTtlMs, clock.nowMs(), policy.sweepLimit);
    try {
      await checkFinality();
      await checkToken();
      for (const signer of context.signers) {
        const lease = await ledger.acquireLease(signer.address, context.holder, policy.leaseMs, clock.nowMs());
        if (lease === null) continue;
        leases.set(signer.address, lease);
        await settleWith(signer, lease);
      }
    } catch (error) {
      // What was saved is safe, and the next round begins from it.
      if (!(error instanceof SettlementError && error.retryable)) throw error;
      const kind = error.code === "ledger_unavailable" ? error.code : "chain_unavailable";
      context.report({ kind, reason: error.message });
    }
  }

  async function settleWith(signer: Signer, lease: Lease): Promise<void> {
    try {
      await confirm(context, lease, await ledger.openSubmissions(lease.operator));
      const open = await ledger.openSubmissions(lease.operator);
      await rebroadcast(context, lease, signer, open, waits);
      if ((await ledger.halted()) !== null) return;
      const gap = await fillGap(context, lease, open);
      // What was released has its nonce spent: then the answer was stale, and there is no gap.
      if (gap !== null && gap.state.kind !== "released") await submit(context, lease, signer, gap);
      for (const planned of open.filter(({ state }) => state.kind === "planned")) {
        if (!(await take(signer, lease, planned))) return;
      }
      await submitNew(signer, lease, policy.maxInFlight - open.length);
    } catch (error) {
      if (!(error instanceof SettlementError)) throw error;
      // Another process took over; it has everything that it needs.
      if (error.code === "fenced") {
        context.report({ kind: "holding", operator: lease.operator, reason: error.message });
        return;
      }
      // The other keys go on.
      if (error.code !== "signer_unavailable") throw error;
      context.report({ kind: error.code, reason: error.message });
    }
  }

  async function submitNew(signer: Signer, lease: Lease, room: number): Promise<void> {
    if (room > 0 && clock.nowMs() - lastPayoutAtMs >= policy.payoutEveryMs) {
      lastPayoutAtMs = clock.nowMs();
      const payout = await planPayout(context, lease);
      if (payout !== null && !(await take(signer, lease, payout))) return;
    }
    for (let i = 0; i < room; i++) {
      const planned = await plan(context, lease, maxRows);
      if (planned.kind === "nothing_due") return;
      if (planned.kind === "hold") {
        context.report({ kind: "holding", operator: lease.operator, reason: planned.reason });
        return;
      }
      if (!(await take(signer, lease, planned.submission))) return;
    }
  }

  // Submits; false if there is no point in submitting more now.
  async function take(signer: Signer, lease: Lease, submission: Parameters<typeof submit>[3]): Promise<boolean> {
    const outcome = await submit(context, lease, signer, submission);
    if (outcome.kind === "hold") {
      context.report({ kind: "holding", operator: lease.operator, reason: outcome.reason });
      return false;
    }
    if (outcome.kind === "unplanned" && outcome.smaller) maxRows = Math.max(1, Math.floor(maxRows / 2));
    if (outcome.kind === "sent") maxRows = Math.min(policy.bounds.maxRows, maxRows * 2);
    return true;
  }

  // Lets another process go on at once instead of when the leases run out. Not while a round is running.
  async function releaseLeases(): Promise<void> {
    for (const [operator, lease] of leases) {
      await ledger.releaseLease(lease);
      leases.delete(operator);
    }
  }

  // A chain that undoes what it called final breaks the promise that everything else rests on.
  async function checkFinality(): Promise<void> {
    if (lastFinalized !== null) {
      const hash = await chain.blockHash(lastFinalized.number);
      if (hash !== null && hash !== lastFinalized.hash) {
        await halt(context, `block ${lastFinalized.number} was final as ${lastFinalized.hash} and is now ${hash}`);
      }
    }
    lastFinalized = await chain.finalized();
  }

  // What the token does may change with its code, so a person should know. Nothing is held back for it: every batch is
  // simulated on the new code before it is signed.
  async function checkToken(): Promise<void> {
    const nowMs = clock.nowMs();
    if (nowMs >= lastTokenCheckAtMs && nowMs - lastTokenCheckAtMs < policy.tokenCheckMs) return;
    const implementation = await chain.tokenImplementation();
    const noted = implementation === null ? null : await ledger.noteTokenImplementation(implementation, nowMs);
    lastTokenCheckAtMs = nowMs;
    if (implementation !== null && noted !== null) {
      context.report({ kind: "usdc_upgraded", from: noted.previous, to: implementation });
    }
  }

  return {
    preflight: check,
    recordTurn: (turn: Turn) => ledger.recordTurn(turn, clock.nowMs()),
    startSession,
    session: ledger.session,
    hold,
    capture: (callId: string, hashes: ContentHashes) => ledger.capture({ callId, hashes }, policy.flush, clock.nowMs()),
    void: (callId: string) => ledger.void(callId),
    closeSession: (id: string) => ledger.closeSession(id, clock.nowMs()),
    audit: (fromBlock?: bigint) => audit(ledger, chain, fromBlock),
    prove: (chargeId: Hex) => prove(ledger, chain, chargeId),
    operators: context.signers.map(({ address }) => address) as readonly Address[],
    tick,
    releaseLeases,
  };
}

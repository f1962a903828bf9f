import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import type { Refund } from "../chain/chain.ts";
import type { ReadSpendable } from "../chain/readSpendable.ts";
import type { Signer } from "../chain/signer/signer.ts";
import { createFollowingClock } from "../clock.ts";
import type { Submission } from "../domain/batch/submission.ts";
import type { ContentHashes } from "../domain/charges/charge.ts";
import type { Call } from "../domain/charges/session.ts";
import type { Turn, TurnHold } from "../domain/charges/turn.ts";
import { SettlementError } from "../domain/errors.ts";
import type { MicroUsdc } from "../domain/money.ts";
import type { SignedBudget } from "../domain/payer/budget.ts";
import { together } from "../domain/scheduling/together.ts";
import type { Lease } from "../ledger/ledger.ts";
import { createAdmission } from "./accept/admission.ts";
import { type BroughtBudget, bringBudget } from "./accept/budgets/bringBudget.ts";
import { bringToCall } from "./accept/budgets/bringToCall.ts";
import { keepBudget } from "./accept/budgets/keepBudget.ts";
import { listBudgets } from "./accept/budgets/listBudgets.ts";
import { hold } from "./accept/calls/hold.ts";
import { startSession } from "./accept/calls/startSession.ts";
import { createUnsettled } from "./accept/preflight/createUnsettled.ts";
import { type DraftOn, preflight } from "./accept/preflight/preflight.ts";
import { settledBy } from "./accept/preflight/settledBy.ts";
import { createPrices } from "./accept/prices.ts";
import { holdTurn } from "./accept/turns/holdTurn.ts";
import { recordTurn } from "./accept/turns/recordTurn.ts";
import { type ReportedTurn, recordTurns } from "./accept/turns/recordTurns.ts";
import { type ArchiveOptions, archive } from "./archive/archive.ts";
import { restore } from "./archive/restore.ts";
import { createBringForward } from "./batch/bringForward.ts";
import { createCollectOwed } from "./batch/collectOwed.ts";
import { createPayouts } from "./batch/payout.ts";
import { type Planned, plan } from "./batch/plan.ts";
import { createConfirm, halt } from "./confirm/confirm.ts";
import type { EngineContext } from "./context.ts";
import { createAnswers } from "./court/createAnswers.ts";
import { receiptsOf } from "./court/receiptsOf.ts";
import { checkHome, fence } from "./submit/fence.ts";
import { fillNonceGap } from "./submit/fillNonceGap.ts";
import { rebroadcast, type Waits } from "./submit/rebroadcast.ts";
import { type SubmitOutcome, submit } from "./submit/submit.ts";
import { type Audit, audit } from "./watch/audit.ts";
import { prove } from "./watch/prove.ts";
import { type ReconcileOptions, reconcile } from "./watch/reconcile.ts";
import { checkRetired } from "./watch/retire.ts";
import { createWatch } from "./watch/watch.ts";

const MAX_REASON_LENGTH = 2_000;
const MAX_SAID_SETTLED = 100;
const NOTHING_DUE: Planned = { kind: "nothing_due" };

export type Engine = ReturnType<typeof createEngine>;

// The lifecycle of a call, as verbs: preflight, hold, capture or void, and then `tick`, which takes what is due to the chain
// and brings back what became of it. Everything that must survive is in the ledger, so a new engine on the same ledger
// goes on where an old one stopped.
export function createEngine(options: Omit<EngineContext, "looking">, readSpendable: ReadSpendable) {
  const clock = createFollowingClock(options.clock);
  const context: EngineContext = { ...options, clock, looking: { lifted: 0 } };
  const { ledger, chain, policy } = context;
  // How many rows the next batch may have: halved when a batch was too large, doubled when one went through.
  let maxRows = policy.bounds.maxRows;
  let lastTokenCheckAtMs = Number.NEGATIVE_INFINITY;
  // Batches of which it was said that the chain has them.
  const saidSettled = new LRUCache<Hex, true>({ max: MAX_SAID_SETTLED });
  const answers = createAnswers(context);
  const { watch, checkNonces } = createWatch(context, answers.note);
  const payouts = createPayouts(context);
  // Operators who have shown receipts since they last left room for a batch.
  const hasAnswered = new Set<Address>();
  const confirm = createConfirm(context);
  const admission = createAdmission(context);
  let toldHalt: string | null = null;
  const leases = new Map<Address, Lease>();
  const waits: Waits = new Map();

  const prices = createPrices(context);
  const collectOwed = createCollectOwed(context);
  const bringForward = createBringForward(context);
  const unsettled = createUnsettled(context);
  const recording = { ...context, unsettled };
  const asked = { ledger, readSpendable, credit: policy.credit, unsettled };
  const flush = { ...policy.flush, credit: policy.credit };

  const check = (payer: Address | null, amount: MicroUsdc, notBefore = 0n, draft: DraftOn | null = null) =>
    preflight(asked, payer, amount, { notBefore, draft });
  // A session is a limit; its calls are asked about one by one.
  const checkSession = (payer: Address, amount: MicroUsdc, draft: DraftOn | null) =>
    preflight(asked, payer, amount, { onCredit: 0n, draft });

  // On what comes with it, or on the budget that it names.
  async function recordOne({ turn, brought }: ReportedTurn) {
    const wasDone = async () => (await ledger.listChargesOf({ turnId: turn.id })).length > 0;
    const found = await bringBudget(context, turn.payer, brought, wasDone);
    if (found.kind === "budget_refused") return found;
    const budgetId = found.budgetId ?? turn.budgetId ?? null;
    return recordTurn(recording, readSpendable, admission, prices, { ...turn, budgetId });
  }

  function follow(ledgerNowMs: number | null): void {
    if (ledgerNowMs !== null) clock.follow(ledgerNowMs);
  }

  // One tick of settlement for every operator key that this process has, or can get, the lease of. `atOnce` settles what is due
  // however little it is.
  async function tick({ atOnce = false } = {}): Promise<void> {
    await ledger.sweepSessions(policy.flush, policy.holdTtlMs, clock.nowMs(), policy.sweepLimit);
    await ledger.sweepTurnHolds(policy.turnHoldTtlMs, clock.nowMs(), policy.sweepLimit);
    try {
      follow((await checkHome(context)).nowMs);
      const wasHalted = await tellHalt();
      if (!(await watch())) return;
      await checkRetired(context);
      await checkToken();
      await collectOwed();
      await bringForward();
      for (const signer of context.signers) {
        const lease = await ledger.acquireLease(signer.address, context.holder, policy.leaseMs);
        if (lease === null) continue;
        leases.set(signer.address, lease);
        await settleWith(signer, lease, { mayPlan: !wasHalted, mayWait: !atOnce });
      }
    } catch (error) {
      // A person has put right what this tick was about to halt for.
      if (error instanceof SettlementError && error.code === "fenced") return;
      // What was saved is safe, and the next tick begins from it.
      if (!(error instanceof SettlementError && error.retryable)) throw error;
      const kind = error.code === "ledger_unavailable" ? error.code : "chain_unavailable";
      context.report({ kind, reason: error.message });
    }
  }

  // Whoever halted may have died before it could tell anybody.
  async function tellHalt(): Promise<boolean> {
    const { halt, lifted } = await ledger.beginToLook();
    context.looking.lifted = lifted;
    const reason = halt?.reason ?? null;
    if (reason !== null && reason !== toldHalt) context.report({ kind: "halted", reason });
    toldHalt = reason;
    return reason !== null;
  }

  // A halt that is lifted in the middle of a tick is lifted for the next one, which looks at the chain first.
  async function settleWith(
    signer: Signer,
    lease: Lease,
    { mayPlan, mayWait }: { mayPlan: boolean; mayWait: boolean },
  ): Promise<void> {
    try {
      await confirm(lease);
      const unmined = await ledger.listUnmined(lease.operator);
      const isKnown = await checkNonces(lease);
      await rebroadcast(context, lease, signer, unmined, waits);
      if (!isKnown && (await ledger.readHalt()) === null) return;
      const fenced = await fence(context, lease, signer, unmined);
      if (fenced.kind === "fenced")
        context.report({ kind: "holding", operator: lease.operator, reason: fenced.reason });
      // A gap is filled while all is halted, too: what waits behind it keeps a person from taking in what was found.
      const gap = fenced.kind === "fenced" ? null : await fillNonceGap(context, lease, unmined);
      if (gap !== null) await submit(context, lease, signer, gap);
      if (!mayPlan || fenced.kind === "fenced" || (await ledger.readHalt()) !== null) {
        await answers.tellHeld(lease.operator, fenced.kind === "fenced" ? fenced.reason : "settlement is halted");
        return await takeApartUnsigned(lease, unmined);
      }
      for (const planned of unmined.filter(({ state }) => state.kind === "planned")) {
        if ((await take(signer, lease, planned)) === "hold") return;
      }
      const answered = await answerNext(signer, lease, unmined);
      await submitNew(signer, lease, policy.maxInFlight - unmined.length - answered, mayWait);
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

  // While all is halted nothing is signed, and what was planned for that holds back charges that a person may have to compare.
  // A restored ledger may have planned what was settled after the copy was made; that is found by confirming.
  async function takeApartUnsigned(lease: Lease, unmined: readonly Submission[]): Promise<void> {
    for (const { id, kind, state } of unmined) {
      if (kind !== "settle" || state.kind !== "planned" || (await chain.settledAt(id, "latest")) !== 0n) continue;
      await ledger.unplanBatch(lease, id, [], 0, clock.nowMs());
    }
  }

  // Shows receipts for contested rows, if any are, and says how many transactions that was. The last room there is goes to answers and
  // batches in turns, so that neither waits for the end of the other.
  async function answerNext(signer: Signer, lease: Lease, unmined: readonly Submission[]): Promise<number> {
    const inFlight = [...unmined];
    for (let room = policy.maxInFlight - inFlight.length; room > 0; room -= 1) {
      if (room === 1 && hasAnswered.delete(lease.operator)) break;
      const answer = await answers.planNext(lease, inFlight);
      if (answer === null || (await take(signer, lease, answer)) !== "sent") break;
      hasAnswered.add(lease.operator);
      inFlight.push(answer);
    }
    return inFlight.length - unmined.length;
  }

  async function submitNew(signer: Signer, lease: Lease, maxNew: number, mayWait: boolean): Promise<void> {
    let room = maxNew;
    for (; room > 0; room -= 1) {
      const payout = await payouts.planNext(lease);
      if (payout === null) break;
      if ((await take(signer, lease, payout)) === "hold") return;
    }
    await submitBatches(signer, lease, room, mayWait);
  }

  // While a batch is simulated, signed and sent, which is mostly waiting for others, the next one is planned on top of it. If the one
  // comes to nothing, so does the other: it would follow what is not there, and is taken apart in its turn.
  async function submitBatches(signer: Signer, lease: Lease, room: number, mayWait: boolean): Promise<void> {
    let waits = mayWait;
    let next = room > 0 ? await planNext(lease, waits) : NOTHING_DUE;
    for (let left = room - 1; next.kind === "planned"; left -= 1) {
      const [outcome, following] = await together([
        take(signer, lease, next.submission),
        left > 0 ? planNext(lease, waits) : NOTHING_DUE,
      ]);
      if (outcome === "hold") return;
      next = following;
      // What was taken apart has waited before, and goes on without the row that broke it: if it waited again, that row would be
      // back by then.
      if (outcome !== "unplanned" || !waits) continue;
      waits = false;
      if (left > 0 && next.kind === "nothing_due") next = await planNext(lease, waits);
    }
    if (next.kind === "hold") context.report({ kind: "holding", operator: lease.operator, reason: next.reason });
  }

  async function planNext(lease: Lease, mayWait: boolean): Promise<Planned> {
    const bound = (await ledger.readRowBound(lease.operator)) ?? maxRows;
    return plan(context, lease, Math.min(bound, maxRows), mayWait);
  }

  // Confirming finds what the chain has in the next tick, unless nobody shows it.
  function tellUnshown({ operator }: Lease, id: Hex): void {
    const reason = `batch ${id} is settled, says one endpoint, and none shows how; it waits`;
    if (saidSettled.has(id)) context.report({ kind: "holding", operator, reason });
    saidSettled.set(id, true);
  }

  // Submits. After a hold there is no point in submitting more now.
  async function take(signer: Signer, lease: Lease, submission: Submission): Promise<SubmitOutcome["kind"]> {
    const outcome = await submit(context, lease, signer, submission);
    if (outcome.kind === "already_settled") tellUnshown(lease, submission.id);
    if (outcome.kind === "hold") {
      context.report({ kind: "holding", operator: lease.operator, reason: outcome.reason });
    }
    if (outcome.kind === "unplanned" && outcome.smaller) maxRows = Math.max(1, Math.floor(maxRows / 2));
    if (outcome.kind === "dropped") {
      answers.dropped(submission.id, outcome.reason);
      context.report({ kind: "answer_dropped", id: submission.id, reason: outcome.reason });
    }
    // An answer says nothing about how large a batch may be.
    if (outcome.kind === "sent" && submission.kind !== "answer") maxRows = Math.min(policy.bounds.maxRows, maxRows * 2);
    return outcome.kind;
  }

  // Lets another process go on at once instead of when the leases run out. Not while a tick is running.
  async function releaseLeases(): Promise<void> {
    for (const [operator, lease] of leases) {
      await ledger.releaseLease(lease);
      leases.delete(operator);
    }
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

  // Whatever the chain and the ledger disagree about would be settled on top of. It is looked for twice: a person may have put it
  // right meanwhile.
  async function auditAndHalt(fromBlock = context.fromBlock): Promise<Audit> {
    const keys = context.signers.map(({ address }) => address);
    const compare = () => audit(ledger, chain, fromBlock, keys);
    const first = await compare();
    if (first.kind !== "different") return first;
    const { lifted } = await ledger.beginToLook();
    const found = await compare();
    if (found.kind !== "different") return found;
    await halt({ ...context, looking: { lifted } }, found.differences.join("; ").slice(0, MAX_REASON_LENGTH));
    return found;
  }

  return {
    // Of an amount that is to be drawn on what comes with it, if anything does.
    async preflight(payer: Address | null, amount: MicroUsdc, brought: BroughtBudget | null = null) {
      if (payer === null) return check(payer, amount);
      const found = await bringBudget(context, payer, brought);
      if (found.kind === "budget_refused") return found.refusal;
      const { budgetId } = found;
      const draft = budgetId === null ? null : { budgetId, amount, toolIds: [], settledBy: settledBy(clock, policy) };
      return check(payer, amount, 0n, draft);
    },
    keepBudget: (signed: SignedBudget) => keepBudget(context, signed),
    listBudgets: (payer: Address, limit: number, offset: number) => listBudgets(context, payer, limit, offset),
    // What a payer has asked back of its prepaid balance.
    async findRefund(payer: Address): Promise<Refund> {
      const [refund] = await chain.refunds([payer]);
      if (refund === undefined) throw new RangeError(`the chain left out ${payer}`);
      return refund;
    },
    async holdTurn(held: Omit<TurnHold, "budgetId">, brought: BroughtBudget | null = null) {
      const wasDone = async () => (await ledger.findTurnHold(held.turnId)) !== null;
      const found = await bringBudget(context, held.payer, brought, wasDone);
      if (found.kind === "budget_refused") return found;
      return holdTurn(context, check, admission, { ...held, budgetId: found.budgetId });
    },
    voidTurn: (turnId: string, payer: Address) => ledger.voidTurn(turnId, payer),
    recordTurn: (turn: Turn, brought: BroughtBudget | null = null) => recordOne({ turn, brought }),
    recordTurns: (reported: readonly ReportedTurn[]) => recordTurns(context, admission, prices, recordOne, reported),
    async startSession(
      id: string,
      payer: Address | null,
      maxSpend: MicroUsdc,
      ttlMs = policy.sessionTtlMs,
      brought: BroughtBudget | null = null,
    ) {
      const wasDone = async () => (await ledger.findSession(id)) !== null;
      const found = payer === null ? null : await bringBudget(context, payer, brought, wasDone);
      if (found?.kind === "budget_refused") return found;
      const budgetId = found?.budgetId ?? null;
      return startSession(context, checkSession, { id, payer, maxSpend, ttlMs, budgetId });
    },
    findSession: ledger.findSession,
    // On the session's budget, or on the one that comes with the call.
    async hold(call: Call, brought: BroughtBudget | null = null) {
      const found = await bringToCall(context, call, brought);
      return found.kind === "brought" ? hold(context, check, admission, prices, found.call) : found;
    },
    capture: (callId: string, hashes: ContentHashes) => ledger.capture({ callId, hashes }, flush, clock.nowMs()),
    void: (callId: string) => ledger.void(callId),
    closeSession: (id: string) => ledger.closeSession(id, clock.nowMs()),
    audit: auditAndHalt,
    reconcile: (options: ReconcileOptions) => reconcile(context, options),
    archive: (options?: ArchiveOptions) => archive(context, options),
    restore: (number: number) => restore(context, number),
    prove: (chargeId: Hex) => prove(ledger, chain, chargeId),
    receiptsOf: (batchId: Hex, account: Address) => receiptsOf(ledger, chain, batchId, account),
    operators: context.signers.map(({ address }) => address) as readonly Address[],
    // Before anything is accepted: what is accrued by a clock that is ahead would be due as late as that. Each tick does it again.
    followClock: async () => follow(await ledger.readClock()),
    tick,
    releaseLeases,
  };
}

import { createGroupCommit, type Verb } from "./groupCommit.ts";
import type { Lease, Ledger } from "./ledger.ts";
import { migrate } from "./migrate.ts";
import type { Database } from "./sql.ts";
import { inTransaction, type Tx } from "./tx.ts";
import {
  lower,
  validAddress,
  validAmount,
  validCapture,
  validCount,
  validHash,
  validName,
  validTime,
  validToolId,
  validTurn,
} from "./validate.ts";
import { claimKey, saveAnswer } from "./verbs/answers.ts";
import { apiKeyByHash, apiKeys, createApiKey, revokeApiKey } from "./verbs/apiKeys.ts";
import { assignNonce } from "./verbs/assignNonce.ts";
import { audit } from "./verbs/audit.ts";
import { capture } from "./verbs/capture.ts";
import { closeSession } from "./verbs/closeSession.ts";
import { duePayers } from "./verbs/duePayers.ts";
import { finalBatches } from "./verbs/finalBatches.ts";
import { finalize } from "./verbs/finalize.ts";
import { forgetFigures } from "./verbs/forgetFigures.ts";
import { hold } from "./verbs/hold.ts";
import { createInspection } from "./verbs/inspection.ts";
import { findSession, openSession } from "./verbs/openSession.ts";
import { acquireLease, halt, halted, operators, releaseLease, resume } from "./verbs/operators.ts";
import { clearDebt, exposures } from "./verbs/payers.ts";
import { planBatch } from "./verbs/planBatch.ts";
import { planSubmission } from "./verbs/planSubmission.ts";
import { recordInclusion } from "./verbs/recordInclusion.ts";
import { recordLoss } from "./verbs/recordLoss.ts";
import { recordTurns } from "./verbs/recordTurns.ts";
import { release } from "./verbs/release.ts";
import { saveBroadcast } from "./verbs/saveBroadcast.ts";
import { createStatements } from "./verbs/statements.ts";
import { openSubmissions } from "./verbs/submissions.ts";
import { sweepSessions } from "./verbs/sweepSessions.ts";
import { noteTokenImplementation, tokenImplementations } from "./verbs/tokenImplementations.ts";
import { unplanBatch } from "./verbs/unplanBatch.ts";
import { voidHold } from "./verbs/voidHold.ts";

export type LedgerOptions = {
  // Off, every call has a commit of its own. For comparison only.
  groupCommit?: boolean;
  maxGroup?: number;
  // How many calls may wait for their commit before more are turned away.
  maxQueue?: number;
  // Which rows of running sums this process adds to. Processes that share a database should differ.
  shard?: number;
};

const MAX_GROUP = 256;
const MAX_QUEUE = 10_000;

// The verbs over a database. Those that answer a payer share commits; those of the settlement loop have their own.
export async function createLedger(database: Database, options: LedgerOptions = {}): Promise<Ledger> {
  const { groupCommit = true, maxGroup = MAX_GROUP, maxQueue = MAX_QUEUE, shard = 0 } = options;
  await migrate(database);

  const group = createGroupCommit<Tx>({
    transaction: (work) => inTransaction(database, work, { repeatable: true, shard }),
    answerAgain,
    maxGroup: groupCommit ? maxGroup : 1,
    maxQueue,
  });
  const shared = <T>(verb: Verb<Tx, T>) => group.submit(verb);
  const alone = <T>(verb: (tx: Tx) => Promise<T>) => inTransaction(database, verb, { repeatable: false, shard });
  const leased = async <T>(lease: Lease, verb: (tx: Tx, lease: Lease) => Promise<T>) => {
    const operator = validAddress("the operator", lease.operator);
    return alone((tx) => verb(tx, { ...lease, operator }));
  };
  const { read } = database;

  return {
    async recordTurn(turn, nowMs) {
      return group.submitTo(recordTurns, { turn: validTurn(turn), nowMs: validTime("now", nowMs) });
    },
    async exposures(payers) {
      return exposures(read, payers);
    },
    async clearDebt(payer) {
      const account = validAddress("the payer", payer);
      return alone((tx) => clearDebt(tx, account));
    },

    async openSession(session, nowMs) {
      const valid = {
        id: validName("the session's id", session.id),
        payer: validAddress("the payer", session.payer),
        maxSpend: validAmount("the budget", session.maxSpend),
        expiresAtMs: validTime("the end of the session", session.expiresAtMs),
      };
      validTime("now", nowMs);
      return shared((tx) => openSession(tx, valid, nowMs));
    },
    async session(id) {
      return findSession(read, id);
    },
    async hold(call, nowMs) {
      const valid = {
        callId: validName("the call's id", call.callId),
        sessionId: validName("the session's id", call.sessionId),
        toolId: validToolId(call.toolId),
        method: validName("the method", call.method),
        amount: validAmount("the price", call.amount),
      };
      validTime("now", nowMs);
      return shared((tx) => hold(tx, valid, nowMs));
    },
    async capture(captured, policy, nowMs) {
      const valid = validCapture(captured);
      validTime("now", nowMs + validCount("the longest wait", policy.maxAgeMs));
      return shared((tx) => capture(tx, valid, policy, nowMs));
    },
    async void(callId) {
      validName("the call's id", callId);
      return shared((tx) => voidHold(tx, callId));
    },
    async closeSession(id, nowMs) {
      validName("the session's id", id);
      validTime("now", nowMs);
      return shared((tx) => closeSession(tx, id, nowMs));
    },
    async sweepSessions(policy, holdTtlMs, nowMs, limit) {
      validCount("the limit", limit);
      validTime("now", nowMs);
      return alone((tx) => sweepSessions(tx, policy, holdTtlMs, nowMs, limit));
    },

    async createApiKey(key, nowMs) {
      const valid = {
        id: validName("the key's id", key.id),
        hash: validHash("the key's hash", key.hash),
        payer: validAddress("the payer", key.payer),
        label: validName("the label", key.label),
      };
      validTime("now", nowMs);
      return shared((tx) => createApiKey(tx, valid, nowMs));
    },
    async revokeApiKey(id, nowMs) {
      validTime("now", nowMs);
      return shared((tx) => revokeApiKey(tx, id, nowMs));
    },
    async apiKeyByHash(hash) {
      return apiKeyByHash(read, validHash("the key's hash", hash));
    },
    async apiKeys(payer, limit, offset) {
      const account = payer === null ? null : validAddress("the payer", payer);
      return apiKeys(read, account, validCount("the limit", limit), validCount("the offset", offset));
    },
    async claimKey({ caller, key, digest }, nowMs) {
      const valid = {
        caller: validName("the caller", caller),
        key: validName("the idempotency key", key),
        digest: validHash("the request's digest", digest),
      };
      validTime("now", nowMs);
      return shared((tx) => claimKey(tx, valid, nowMs));
    },
    async saveAnswer(caller, key, answer) {
      return shared((tx) => saveAnswer(tx, caller, key, answer));
    },

    async acquireLease(operator, holder, ttlMs, nowMs) {
      const account = validAddress("the operator", operator);
      validName("the holder", holder);
      return alone((tx) => acquireLease(tx, account, holder, ttlMs, nowMs));
    },
    releaseLease: (lease) => leased(lease, releaseLease),
    operators: () => operators(read),
    halt: (reason, nowMs) => alone((tx) => halt(tx, reason, nowMs)),
    halted: () => halted(read),
    resume: () => alone(resume),

    async duePayers(nowMs, limit) {
      return duePayers(read, validTime("now", nowMs), validCount("the limit", limit));
    },
    planBatch: (lease, request, nowMs) => leased(lease, (tx, valid) => planBatch(tx, valid, request, nowMs)),
    planSubmission: (lease, submission, nowMs) =>
      leased(lease, (tx, valid) => planSubmission(tx, valid, submission, nowMs)),
    assignNonce: (lease, id, chainNonce, gasLimit) =>
      leased(lease, (tx, valid) => assignNonce(tx, valid, lower(id), validCount("the nonce", chainNonce), gasLimit)),
    saveBroadcast: (lease, id, broadcast) =>
      leased(lease, (tx, valid) => saveBroadcast(tx, valid, lower(id), broadcast)),
    unplanBatch: (lease, id, drop, waitMs, nowMs) =>
      leased(lease, (tx, valid) => unplanBatch(tx, valid, lower(id), drop, waitMs, nowMs)),
    async openSubmissions(operator) {
      return openSubmissions(read, validAddress("the operator", operator));
    },
    recordInclusion: (lease, id, inclusion, status, outcome) =>
      leased(lease, (tx, valid) => recordInclusion(tx, valid, lower(id), inclusion, status, outcome)),
    recordLoss: (lease, id) => leased(lease, (tx, valid) => recordLoss(tx, valid, lower(id))),
    finalize: (lease, id, outcome, retry, nowMs) =>
      leased(lease, (tx, valid) => finalize(tx, valid, lower(id), outcome, retry, nowMs)),
    release: (lease, id, nowMs) => leased(lease, (tx, valid) => release(tx, valid, lower(id), nowMs)),

    async forgetFigures(beforeMs, limit) {
      validTime("the time", beforeMs);
      return alone((tx) => forgetFigures(tx, beforeMs, validCount("the limit", limit)));
    },
    async noteTokenImplementation(implementation, nowMs) {
      const code = validAddress("the implementation", implementation);
      validTime("now", nowMs);
      return alone((tx) => noteTokenImplementation(tx, code, nowMs));
    },
    tokenImplementations: () => tokenImplementations(read),

    ...createInspection(read),
    ...createStatements(read),
    audit: () => database.snapshot(audit),
    finalBatches: () => database.snapshot(finalBatches),

    async close() {
      await group.drained();
      await database.close();
    },
  };
}

// What a call says that has changed something.
const DONE = new Set(["recorded", "opened", "held", "captured", "voided", "closed", "created"]);

// A call that finds its own first try done has done it, and says so.
function answerAgain(first: unknown, again: unknown): unknown {
  if (!isAnswer(first) || !isAnswer(again) || again.kind !== "duplicate" || !DONE.has(first.kind)) return again;
  return { ...again, kind: first.kind };
}

function isAnswer(value: unknown): value is { kind: string } {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}

import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { Address } from "viem";
import type { Clock } from "../../../settlement/clock.ts";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { formatUsd, type MicroUsdc, microUsdc, parseUsd, sumOf } from "../../../settlement/domain/money.ts";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import type { Quota } from "../../database/createQuota.ts";
import { inPieces } from "../../database/inPieces.ts";
import type { Store } from "../../database/openStore.ts";
import { unread } from "../../delivery/createDeliveries.ts";
import type { Observer } from "../../execute/openExecute.ts";
import type { RecordTurn, SettlementClient, VoidTurn } from "../../settlement/createSettlementClient.ts";
import { FIRST_WAIT_MS } from "../../settlement/reportAgain.ts";
import { QueryFailed } from "../turn/agent.ts";
import type { Memory } from "../turn/createMemory.ts";
import type { Say, TurnOutcome, TurnTask } from "../turn/runTurn.ts";
import { lesser, type Selection } from "../turn/selectTools.ts";
import type { QueryRequest } from "../wire/request.ts";
import type { QueryResult, QuerySession } from "../wire/result.ts";
import { writeResult } from "../wire/writeResult.ts";
import type { Allowance } from "./createAllowance.ts";
import { createScheduler } from "./createScheduler.ts";
import type { TurnReport, TurnReporter } from "./createTurnReporter.ts";
import {
  adoptJob,
  beginJob,
  completeJob,
  countUnfinished,
  extendJobs,
  failJob,
  findJob,
  findJobByKey,
  forgetJobs,
  hastenTurns,
  insertJob,
  isForgotten,
  type Job,
  listAbandoned,
  listJobs,
  type NewJob,
} from "./jobs.ts";

export type Progress = { stage: string; toolCalls: number; updatedAt: string };

// Whoever waits at the other end of a connection.
export type Attached = {
  gone: AbortSignal;
  say: Say;
  // Whether there is room for an answer of so many bytes until it is read.
  hasRoom: (bytes: number) => boolean;
};

export type ListedJob = Awaited<ReturnType<typeof listJobs>>[number] & { query: string | null };

export type StartOptions = { account: Address; key: string | null; attached?: Attached };

export type Jobs = {
  // Takes a question, or the same one again under the same key. All that can be refused is refused here.
  start(request: QueryRequest, options: StartOptions): Promise<{ job: Job; replayed: boolean }>;
  // The newest of an account, without their answers.
  list(account: Address, limit: number): Promise<readonly ListedJob[]>;
  // Null if the account has no such job.
  find(account: Address, id: string): Promise<Job | null>;
  // The job once it has ended, or as it is after a while.
  wait(account: Address, id: string, options?: { gone?: AbortSignal; heldOpenMs?: number }): Promise<Job | null>;
  progressOf(id: string): Progress | null;
  // Says that this process is alive, and takes care of what others have left behind.
  keepAlive(): Promise<void>;
  // Takes care of what a process of this name had begun before it died. For the start.
  recoverOwn(): Promise<number>;
  forget(): Promise<void>;
  isStopping(): boolean;
  // Begins nothing more, and waits for what runs, though not without end.
  stop(): Promise<void>;
};

export type JobsOptions = {
  store: Store;
  clock: Clock;
  settlement: Pick<SettlementClient, "holdTurn" | "voidTurn">;
  reporter: TurnReporter;
  select: (account: Address, request: QueryRequest, earlierTools: readonly string[]) => Promise<Selection>;
  run: (task: TurnTask) => Promise<TurnOutcome>;
  // The most that the model may cost in one turn. Throws if there is no such model.
  modelCostOf: (agentModelId: string | null) => MicroUsdc;
  holder: string;
  memory: Memory;
  allowance: Allowance;
  // Hears how much of what tools have said is kept for whom.
  quota: Quota;
  // How long a key is known after its question was answered.
  keysKeptMs: number;
  log: FastifyBaseLogger;
  observe: (outcome: string, durationMs: number) => void;
  // An account owes something for what a tool has answered.
  paid: Observer["paid"];
};

const MAX_RUNNING = 64;
const MAX_RUNNING_PER_ACCOUNT = 32;
// Of those for which nothing is held. The other places are for those who pay.
const MAX_RUNNING_FREE = 48;
const MAX_UNFINISHED_PER_ACCOUNT = 200;
// The original's bound on a run.
const RUN_MS = 1_800_000;
// What is held for a question is held for longer than it may run, and this much longer.
const RENEW_MS = 300_000;
const LAPSE_MS = 60_000;
const GIVE_BACK_MS = 500;
export const HELD_OPEN_MS = 25_000;
const LOOK_MS = 500;
const STOP_MS = 20_000;
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
const AT_A_TIME = 1_000;
const MAX_EARLIER = 5;

const INTERRUPTED = "the marketplace was interrupted while it worked on this; nothing is charged, ask again";
const GONE = "whoever asked went away before there was an answer; nothing is charged";

export function createJobs(options: JobsOptions): Jobs {
  const {
    store,
    clock,
    settlement,
    reporter,
    select,
    run,
    modelCostOf,
    holder,
    memory,
    allowance,
    quota,
    keysKeptMs,
    log,
    observe,
    paid,
  } = options;
  const scheduler = createScheduler(MAX_RUNNING, MAX_RUNNING_PER_ACCOUNT, MAX_RUNNING_FREE);
  const progress = new Map<string, Progress>();
  const waiters = new Map<string, Set<() => void>>();
  // What this process works on, or is going to.
  const own = new Set<string>();
  const taking = new Map<string, Promise<unknown>>();
  const admitting = new Map<Address, number>();
  const audiences = new Map<string, Audience>();
  const telling = createPending();
  const stopping = new AbortController();

  // One after the other for each key of an account, so that the second arrival of a question finds the first, and is not refused for
  // the money that was held for that.
  function inTurn<T>({ account, key }: StartOptions, work: () => Promise<T>): Promise<T> {
    if (key === null) return work();
    const name = `${account} ${key}`;
    const mine = (taking.get(name) ?? Promise.resolve()).then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    taking.set(name, settled);
    void settled.then(() => {
      if (taking.get(name) === settled) taking.delete(name);
    });
    return mine;
  }

  // Those that are just being let in count as well, so that many that come together are not all let in for the last place.
  async function withPlace<T>(account: Address, work: () => Promise<T>): Promise<T> {
    const others = admitting.get(account) ?? 0;
    admitting.set(account, others + 1);
    try {
      const unfinished = (await countUnfinished(store.read, account)) + others;
      if (unfinished >= MAX_UNFINISHED_PER_ACCOUNT) {
        throw new ApiError(
          "rate_limited",
          `${unfinished} questions of this account are not answered yet; wait for some of them`,
        );
      }
      return await work();
    } finally {
      const left = (admitting.get(account) ?? 1) - 1;
      if (left === 0) admitting.delete(account);
      else admitting.set(account, left);
    }
  }

  async function known(account: Address, key: string | null, digest: string): Promise<Job | null> {
    const job = key === null ? null : await findJobByKey(store.read, account, key);
    if (job === null || job.digest === digest) return job;
    throw new ApiError("idempotency_conflict", "this Idempotency-Key was used for another request before");
  }

  async function take(request: QueryRequest, options: StartOptions): Promise<{ job: Job; replayed: boolean }> {
    const { account, key, attached } = options;
    const text = textOf(request);
    // What is signed for a question is no part of it.
    const digest = hash("sha256", textOf({ ...request, signed: null }));
    const first = await known(account, key, digest);
    if (first !== null) return joined(first);
    const modelCost = modelCostOf(request.agentModelId);
    if (modelCost > 0n) await allowance.check(account);
    const parent = await parentOf(account, request);
    const selection = await select(account, request, parent?.toolsUsed ?? []);
    const admitted = await inTurn(options, admit);
    if (admitted.replayed) return joined(admitted.job);
    enqueue(admitted.job, { request, selection });
    return admitted;

    // Whoever comes under the same key waits with those who wait already. If all of them have just gone, and nobody is left for whom
    // it would be answered, it is asked again.
    async function joined(job: Job): Promise<{ job: Job; replayed: boolean }> {
      if (audiences.get(job.id)?.join(attached ?? FOREVER) !== false) return { job, replayed: true };
      await wait(account, job.id, attached && { gone: attached.gone });
      const isOver = attached?.gone.aborted === true || stopping.signal.aborted;
      return isOver ? { job, replayed: true } : take(request, options);
    }

    async function admit(): Promise<{ job: Job; replayed: boolean }> {
      const first = await known(account, key, digest);
      if (first !== null) return { job: first, replayed: true };
      return withPlace(account, create);
    }

    async function create(): Promise<{ job: Job; replayed: boolean }> {
      const id = randomUUID();
      const job: NewJob = {
        id,
        account,
        key,
        digest,
        sessionId: parent?.sessionId ?? randomUUID(),
        parentId: parent?.id ?? null,
        rootId: parent?.rootId ?? id,
        mode: request.from?.mode ?? "initial",
        request: text,
        origin: attached === undefined ? "job" : "attached",
        reserved: microUsdc(selection.bound + modelCost),
      };
      // A crash between the two leaves something held for a job that nobody has, until that is too old.
      await holdFor(job, request);
      const nowMs = clock.nowMs();
      // Before anybody can find it.
      if (attached !== undefined) audiences.set(id, createAudience(attached));
      const isMine = await store
        .shared((sql) => insertJob(sql, job, holder, nowMs + LAPSE_MS, nowMs))
        .catch((error: unknown) => {
          audiences.delete(id);
          throw error;
        });
      if (!isMine) {
        audiences.delete(id);
        await settlement.voidTurn({ turnId: id, payer: account });
        const other = await known(account, key, digest);
        if (other === null) throw new ApiError("unavailable", "another process is at this request; try again");
        return { job: other, replayed: true };
      }
      const created = await findJob(store.read, account, id);
      if (created === null) throw new ApiError("unavailable", "the job was not kept; try again");
      return { job: created, replayed: false };
    }
  }

  // What it may cost is taken out of what its payer can spend, until it is known what it costs.
  async function holdFor({ id, account, reserved }: NewJob, { signed }: QueryRequest): Promise<void> {
    if (reserved === 0n) return;
    await settlement.holdTurn({ turnId: id, payer: account, amountUsd: formatUsd(reserved), signed });
  }

  async function parentOf(account: Address, { from }: QueryRequest): Promise<Job | null> {
    if (from === null) return null;
    const parent = await findJob(store.read, account, from.attemptId);
    if (parent === null || parent.sessionId !== from.sessionId) {
      throw new ApiError("not_found", `this account has no attempt as ${from.mode}From names it`);
    }
    if (parent.status === "queued" || parent.status === "running") {
      throw new ApiError("conflict", `the attempt that ${from.mode}From names is still running; wait for its end`);
    }
    if (isForgotten(parent)) {
      throw new ApiError(
        "not_found",
        `the attempt that ${from.mode}From names is not kept any more; ask again without it`,
      );
    }
    return parent;
  }

  function enqueue(job: NewJob, begun: { request: QueryRequest; selection: Selection } | null): void {
    const addedMs = performance.now();
    own.add(job.id);
    scheduler.add(job.account, () => work(job, begun, addedMs), {
      isFree: job.reserved === 0n,
    });
  }

  async function work(
    job: NewJob,
    begun: { request: QueryRequest; selection: Selection } | null,
    addedMs: number,
  ): Promise<void> {
    const startMs = performance.now();
    const audience = audiences.get(job.id);
    const end = (outcome: string) => observe(outcome, performance.now() - startMs);
    const held = memory.open(job.account);
    let spent = microUsdc(0n);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), RUN_MS).unref();
    const signal = AbortSignal.any([late.signal, stopping.signal, ...(audience ? [audience.gone] : [])]);
    try {
      const isBegun = job.origin === "attached";
      if (!isBegun && !(await store.shared((sql) => beginJob(sql, job.id, holder, clock.nowMs())))) return;
      signal.throwIfAborted();
      const request = begun?.request ?? requestFrom(job.request);
      // It has waited, or for somebody who has died, and what was held for it may be too old by the time it is answered.
      if (begun === null || performance.now() - addedMs > RENEW_MS) await holdFor(job, request);
      // Many are let in before the first of them has cost anything.
      if (modelCostOf(request.agentModelId) > 0n) await allowance.check(job.account);
      const ancestors = await ancestorsOf(job);
      const selection = begun?.selection ?? (await select(job.account, request, ancestors[0]?.toolsUsed ?? []));
      // What was held when the job was taken is all that it may cost, whatever prices and models have become since.
      const bound = lesser(job.reserved, selection.bound);
      const outcome = await run({
        account: job.account,
        attemptId: job.id,
        request,
        selection: { ...selection, bound },
        modelBound: lesser(job.reserved - bound, modelCostOf(request.agentModelId)),
        earlier: ancestors.toReversed().map((ancestor) => ({
          query: requestFrom(ancestor.request).query,
          answer: answerIn(ancestor),
        })),
        session: sessionOf(job, "active"),
        held,
        spend: (cost) => {
          spent = microUsdc(spent + cost);
        },
        signal,
        say: (status, tool) => {
          const toolCalls = (progress.get(job.id)?.toolCalls ?? 0) + (status === "tool-complete" ? 1 : 0);
          progress.set(job.id, { stage: status, toolCalls, updatedAt: new Date(clock.nowMs()).toISOString() });
          audience?.say(status, tool);
        },
      });
      // Whoever went away, or a run that took too long, is not charged for what came too late.
      signal.throwIfAborted();
      const { outcomeType, cost } = outcome.result;
      const charged = parseUsd(cost.modelCostUsd);
      // Who has paid a model for an answer has had nothing for nothing, whatever it took above its bound. Of what nobody has counted
      // nothing was paid.
      if ((await complete(job, outcome, audience)) && outcomeType === "answer" && charged > 0n) {
        allowance.lost(microUsdc(spent - charged));
        spent = microUsdc(0n);
      }
      end(outcomeType);
    } catch (error) {
      end(await fail(job, error, signal, audience));
    } finally {
      await allowance
        .used(job.account, spent)
        .catch((err) => log.error({ err, job: job.id }, "what a model has cost for nothing was not counted"));
      own.delete(job.id);
      clearTimeout(timer);
      held.close();
      audiences.delete(job.id);
      progress.delete(job.id);
      for (const wake of waiters.get(job.id) ?? []) wake();
    }
  }

  // Newest first.
  async function ancestorsOf({ account, parentId }: NewJob): Promise<Job[]> {
    const ancestors: Job[] = [];
    for (let id = parentId; id !== null && ancestors.length < MAX_EARLIER; ) {
      const ancestor: Job | null = await findJob(store.read, account, id);
      if (ancestor === null || isForgotten(ancestor)) break;
      ancestors.push(ancestor);
      id = ancestor.parentId;
    }
    return ancestors;
  }

  // The answer is on disk together with what is owed for it before anybody sees either. A crash before that leaves a job that
  // failed and costs nothing; a crash after it leaves a turn that is told at the next start. False if it was no longer this process's
  // to complete.
  async function complete(
    job: NewJob,
    { result, turn, paidFor, dataset, images }: TurnOutcome,
    audience?: Audience,
  ): Promise<boolean> {
    const nowMs = clock.nowMs();
    const report = turn ?? (job.reserved > 0n ? voidOf(job) : null);
    const text = writeResult(result);
    // Without a key nobody asks for it again, so that whoever cannot be sent an answer owes nothing for it.
    if (job.key === null && audience?.hasRoom(Buffer.byteLength(text)) === false) throw unread();
    const completion = {
      result: text,
      toolsUsed: result.toolsUsed.map(({ id }) => id),
      turn: report === null ? null : { text: JSON.stringify(report), amount: amountOf(turn) },
      dataset,
      images,
    };
    const times = { nowMs, turnDueAtMs: nowMs + FIRST_WAIT_MS, dataExpiresAtMs: nowMs + KEPT_MS };
    if (!(await store.shared((sql) => completeJob(sql, job, holder, completion, times)))) {
      log.warn({ event: "overtaken", job: job.id }, "a job was taken for dead while it ran; nothing is charged");
      return false;
    }
    for (const { listing, price } of paidFor) paid(listing, job.account, price);
    const drawnBytes = images.reduce((sum, { png }) => sum + png.length, 0);
    quota.kept(job.account, Buffer.byteLength(text) + (dataset?.bytes ?? 0) + drawnBytes);
    await tell(report);
    return true;
  }

  // Nobody waits for the daemon: what is owed is owed whether or not it is there. Only what is given back is waited for, for a moment,
  // so that whoever asks again at once finds it there.
  async function tell(report: TurnReport | null): Promise<void> {
    if (report === null) return;
    const told = reporter.tell(report).catch((error) => log.error({ err: error }, "a turn is told later"));
    telling.add(told);
    if (report.outcome === "voided") await Promise.race([told, pause(GIVE_BACK_MS, undefined, { ref: false })]);
  }

  // What was held for it is given back, unless somebody else has ended it.
  async function endWithout(
    job: Job | NewJob,
    by: string,
    failure: { error: string; freesKey: boolean },
  ): Promise<void> {
    const [nowMs, report] = [clock.nowMs(), voidOf(job)];
    const voided = JSON.stringify(report);
    const times = { nowMs, turnDueAtMs: nowMs + FIRST_WAIT_MS };
    const isFailed = await store.shared((sql) => failJob(sql, job.id, by, { ...failure, voided }, times));
    if (isFailed && job.reserved > 0n) await tell(report);
  }

  async function fail(job: NewJob, error: unknown, signal: AbortSignal, audience?: Audience): Promise<string> {
    const isGone = audience?.gone.aborted === true;
    const why = isGone
      ? GONE
      : stopping.signal.aborted
        ? INTERRUPTED
        : signal.aborted
          ? `this took more than ${RUN_MS / 60_000} minutes and was ended; nothing is charged`
          : error instanceof QueryFailed || error instanceof ApiError
            ? error.message
            : "something went wrong here; it has been logged, and nothing is charged";
    if (!signal.aborted && !(error instanceof QueryFailed) && !(error instanceof ApiError)) {
      log.error({ err: error, job: job.id }, "a job failed");
    }
    await endWithout(job, holder, { error: sentenceOf(why), freesKey: isGone }).catch((err) =>
      log.error({ err, job: job.id }, "a job's failure was not kept; it lapses by itself"),
    );
    return isGone ? "gone" : "failed";
  }

  async function wait(
    account: Address,
    id: string,
    { gone, heldOpenMs = HELD_OPEN_MS }: { gone?: AbortSignal; heldOpenMs?: number } = {},
  ): Promise<Job | null> {
    const untilMs = performance.now() + heldOpenMs;
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = waiters.get(id) ?? new Set();
      const wake = () => resolve();
      waiters.set(id, waiting.add(wake));
      gone?.addEventListener("abort", wake);
      const over = new AbortController();
      try {
        const job = await findJob(store.read, account, id);
        const hasEnded = job === null || job.status === "completed" || job.status === "failed";
        const leftMs = untilMs - performance.now();
        if (hasEnded || gone?.aborted || stopping.signal.aborted || leftMs <= 0) return job;
        // What this process works on wakes those who wait for it. Of another's work nobody hears without looking.
        const lookMs = own.has(id) ? leftMs : Math.min(leftMs, LOOK_MS);
        await Promise.race([
          promise,
          pause(lookMs, undefined, { ref: false, signal: over.signal }).catch(() => undefined),
        ]);
      } finally {
        over.abort();
        gone?.removeEventListener("abort", wake);
        waiting.delete(wake);
        if (waiting.size === 0) waiters.delete(id);
      }
    }
  }

  // What was begun by a process that is not there any more has called tools, and is not begun again. What nobody has begun is.
  async function recover(before: string | null): Promise<number> {
    const abandoned = await listAbandoned(store.read, before, clock.nowMs(), AT_A_TIME);
    for (const job of abandoned) {
      const isOurs = job.holder === holder && before === null;
      // This process is alive, and only late in saying so.
      if (isOurs) continue;
      const lapsesAtMs = clock.nowMs() + LAPSE_MS;
      if (job.status === "queued" && job.origin === "job") {
        if (await store.shared((sql) => adoptJob(sql, job, holder, lapsesAtMs))) enqueue(job, null);
      } else {
        const failure = { error: sentenceOf(INTERRUPTED), freesKey: job.origin === "attached" };
        await endWithout(job, job.holder, failure);
      }
    }
    return abandoned.length;
  }

  return {
    start: take,
    list: async (account, limit) =>
      (await listJobs(store.read, account, limit)).map((job) => ({
        ...job,
        query: isForgotten(job) ? null : requestFrom(job.request).query,
      })),
    find: (account, id) => findJob(store.read, account, id),
    wait,
    progressOf: (id) => progress.get(id) ?? null,
    async keepAlive() {
      await store.shared((sql) => extendJobs(sql, holder, clock.nowMs() + LAPSE_MS));
      await recover(null);
    },
    async recoverOwn() {
      await store.alone((sql) => hastenTurns(sql, holder, clock.nowMs()));
      return recover(holder);
    },
    forget: () => {
      const nowMs = clock.nowMs();
      const times = { answersBeforeMs: nowMs - KEPT_MS, keysBeforeMs: nowMs - keysKeptMs, nowMs };
      return inPieces(async (limit) =>
        Math.max(await store.alone((sql) => forgetJobs(sql, times, limit)), await allowance.forget(limit)),
      );
    },
    isStopping: () => stopping.signal.aborted,
    async stop() {
      scheduler.close();
      await Promise.race([scheduler.idle(), pause(STOP_MS, undefined, { ref: false })]);
      stopping.abort();
      for (const waiting of waiters.values()) for (const wake of waiting) wake();
      await scheduler.idle();
      await telling.idle();
    },
  };
}

// Those who wait on connections for the same job, which goes on for as long as one of them is there.
type Audience = Attached & {
  // False if all had gone before, and the job with them.
  join(other: Attached): boolean;
};

// Whoever has asked for a job waits for it on no connection, and never goes.
const FOREVER: Attached = { gone: new AbortController().signal, say: () => undefined, hasRoom: () => true };

function createAudience(first: Attached): Audience {
  const going = new AbortController();
  const members = new Set<Attached>();
  const leave = (member: Attached) => {
    members.delete(member);
    if (members.size === 0) going.abort();
  };
  const join = (member: Attached) => {
    if (going.signal.aborted) return false;
    members.add(member);
    if (member.gone.aborted) leave(member);
    // Of those who never go there is one for all jobs, which keeps none of them.
    else if (member !== FOREVER) member.gone.addEventListener("abort", () => leave(member), { once: true });
    return true;
  };
  join(first);
  return {
    gone: going.signal,
    join,
    say: (status, tool) => {
      for (const member of members) member.say(status, tool);
    },
    // Others come under a key alone.
    hasRoom: first.hasRoom,
  };
}

// Promises that nobody waits for until the end.
function createPending() {
  const pending = new Set<Promise<void>>();
  return {
    add(promise: Promise<void>): void {
      pending.add(promise);
      void promise.finally(() => pending.delete(promise));
    },
    idle: async () => void (await Promise.allSettled(pending)),
  };
}

const amountOf = (turn: RecordTurn | null) =>
  turn === null
    ? microUsdc(0n)
    : microUsdc(parseUsd(turn.modelCostUsd) + sumOf(turn.tools.map(({ amountUsd }) => parseUsd(amountUsd))));

const voidOf = ({ id, account }: NewJob): VoidTurn => ({ turnId: id, payer: account, outcome: "voided" });

// JSON knows no bigint.
const textOf = (request: QueryRequest) =>
  JSON.stringify({ ...request, maxCost: request.maxCost === null ? null : formatUsd(request.maxCost) });

function requestFrom(text: string): QueryRequest {
  const { maxCost, ...request } = JSON.parse(text) as Omit<QueryRequest, "maxCost"> & { maxCost: string | null };
  return { ...request, signed: request.signed ?? null, maxCost: maxCost === null ? null : parseUsd(maxCost) };
}

// What was answered, if it was.
function answerIn({ result }: Job): string | null {
  const { outcomeType, response } = JSON.parse(result ?? "{}") as Partial<QueryResult>;
  return outcomeType === "answer" ? (response ?? null) : null;
}

const ORIGINS = { initial: "initial_request", resume: "resume", fork: "fork" } as const;

export const sessionOf = (
  { id, sessionId, parentId, rootId, mode }: NewJob,
  status: QuerySession["status"],
): QuerySession => ({
  sessionId,
  attemptId: id,
  parentAttemptId: parentId,
  rootAttemptId: rootId,
  mode,
  origin: ORIGINS[mode],
  status,
  checkpoint: {
    currentStage: null,
    latestCheckpointArtifactId: null,
    canonicalDatasetId: null,
    executionProgramCurrentRevisionId: null,
  },
});

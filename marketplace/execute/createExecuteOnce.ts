import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import type { Quota } from "../database/createQuota.ts";
import type { Store } from "../database/openStore.ts";
import { canonicalJson } from "../toolkit/answer/canonicalJson.ts";
import { type ExecuteAnswer, ExecutionFailed } from "./answer.ts";
import type { KeyBound } from "./boundKeys.ts";
import type { Execute, ExecuteRequest } from "./createExecute.ts";
import type { Reporter } from "./createReporter.ts";
import { inlineSessionIdOf } from "./createSessions.ts";
import {
  CLAIM_MS,
  claimExecution,
  type KeptAnswer,
  keepAnswer,
  lapseClaim,
  releaseClaim,
  sizeOf,
} from "./executions.ts";

export type Caller = {
  account: Address;
  // The Idempotency-Key, if there is one.
  key: string | null;
  // Says that whoever asked has gone.
  gone: AbortSignal;
  // Whether there is room for an answer of so many bytes until it is read.
  hasRoom: (bytes: number) => boolean;
};

export type ExecuteOnce = (request: ExecuteRequest, caller: Caller) => Promise<ExecuteAnswer & { replayed: boolean }>;

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

const INTERRUPTED: KeptAnswer = {
  status: 422,
  body: JSON.stringify({
    error:
      "Tool execution failed: the marketplace was interrupted while the tool ran, and nobody knows what it did. Nothing " +
      "is charged; call it under another Idempotency-Key to try again.",
    code: "execution_failed",
  }),
};

// One key is one `tools/call`, ever. It is claimed before anything is sent; whoever comes with it meanwhile waits for the
// answer, here or at another process, and whoever comes later gets it again. What died on the way is never sent again.
// Without a key nobody can ask for the answer again, so a buyer who goes away ends the call.
export function createExecuteOnce(options: {
  store: Store;
  clock: Clock;
  execute: Execute;
  reporter: Reporter;
  holder: string;
  // Hear how much is kept for whom, and of keys that were used for nothing.
  quota: Pick<Quota, "kept">;
  keys: KeyBound;
}): ExecuteOnce {
  const { store, clock, execute, reporter, holder, quota, keys } = options;
  const running = new Map<string, { digest: string; answer: Promise<ExecuteAnswer> }>();

  async function claimed(request: ExecuteRequest, account: Address, key: string, digest: string) {
    await keys.admit(account, key);
    const callId = randomUUID();
    const own = { account, key, claim: randomUUID() };
    const first = await claimOrWait({ ...own, digest, callId, holder });
    if (first !== null) return { ...first, replayed: true };
    keys.claimed();
    let called = false;
    try {
      const answer = await execute(request, {
        account,
        callId,
        opens: inlineSessionIdOf(account, key),
        calling: () => {
          called = true;
        },
        async keep({ status, text: body }, report, isCharged) {
          const isKept = await store.shared(async (sql) => {
            if (!(await keepAnswer(sql, own, { status, body }, isCharged, clock.nowMs()))) return false;
            if (report !== null) await reporter.plan(sql, report);
            return true;
          });
          if (!isKept) throw overtaken();
          quota.kept(account, sizeOf(body));
          if (isCharged) keys.released();
          else keys.used(account);
        },
        async amend(sql, { status, text: body }, isCharged) {
          await keepAnswer(sql, own, { status, body }, isCharged, clock.nowMs());
        },
      });
      return { ...answer, replayed: false };
    } catch (error) {
      if (error instanceof ExecutionFailed && error.isKept) {
        const text = JSON.stringify(error.body);
        await store.shared((sql) => keepAnswer(sql, own, { status: error.status, body: text }, false, clock.nowMs()));
        quota.kept(account, sizeOf(text));
        keys.used(account);
        return { status: error.status, text, replayed: false };
      }
      // A refusal says how things stand, and a tool that was not reached may be reached the next time, so the key is judged
      // again. But if something failed here after the tool was called, the tool is never called again. If this fails too, the
      // claim lapses by itself.
      const isUnsent = !called || error instanceof ExecutionFailed;
      if (isUnsent) keys.released();
      await store
        .shared((sql) => (isUnsent ? releaseClaim(sql, own) : lapseClaim(sql, own, clock.nowMs())))
        .catch(() => undefined);
      throw error;
    }
  }

  // Null once the key is claimed; otherwise what was answered under it.
  async function claimOrWait(
    claim: Omit<Parameters<typeof claimExecution>[1], "lapsesAtMs">,
  ): Promise<ExecuteAnswer | null> {
    for (let waitMs = FIRST_PAUSE_MS, waitedMs = 0; waitedMs <= CLAIM_MS; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
      const nowMs = clock.nowMs();
      const outcome = await store.shared((sql) =>
        claimExecution(sql, { ...claim, lapsesAtMs: nowMs + CLAIM_MS }, INTERRUPTED, nowMs),
      );
      switch (outcome.kind) {
        case "claimed":
          return null;
        case "answered":
          return { status: outcome.answer.status, text: outcome.answer.body };
        case "lapsed":
          await reporter.giveUp(outcome.callId);
          return { status: outcome.answer.status, text: outcome.answer.body };
        case "conflict":
          throw conflict();
        case "forgotten":
          throw new ApiError(
            "idempotency_conflict",
            "this Idempotency-Key was used before, and its answer is not kept any more",
          );
        case "running":
          await pause(waitMs);
          waitedMs += waitMs;
      }
    }
    throw new ApiError("unavailable", "the first call under this Idempotency-Key is still running; try again later");
  }

  return async (request, { account, key, gone, hasRoom }) => {
    if (key === null) {
      const attempt = { account, callId: randomUUID(), signal: gone, hasRoom };
      return { ...(await execute(request, attempt)), replayed: false };
    }
    // What is signed for a request is no part of it: whoever signs more asks for the same again. Nor is the order of its fields, which a
    // model that writes them a second time may choose otherwise.
    const { signed: _, ...asked } = request;
    const digest = hash("sha256", canonicalJson(asked));
    const name = JSON.stringify([account, key]);
    const first = running.get(name);
    if (first !== undefined) {
      if (first.digest !== digest) throw conflict();
      return { ...(await first.answer), replayed: true };
    }
    const answer = claimed(request, account, key, digest);
    // Nobody may be waiting for it; whoever asked first is told.
    answer.catch(() => undefined);
    running.set(name, { digest, answer });
    try {
      return await answer;
    } finally {
      running.delete(name);
    }
  };
}

const conflict = () => new ApiError("idempotency_conflict", "this Idempotency-Key was used for another request before");

const overtaken = () =>
  new ApiError(
    "unavailable",
    "this took so long that another process has taken it for interrupted; nothing is charged",
  );

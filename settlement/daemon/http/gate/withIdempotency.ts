import { hash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Hex } from "viem";
import type { Clock } from "../../../clock.ts";
import { uuidFromDigest } from "../../../domain/text/uuid.ts";
import type { Answer, Ledger } from "../../../ledger/ledger.ts";
import { ApiError } from "../errors.ts";
import { ANSWER_TIMEOUT_MS } from "../server/answerInTime.ts";

export type OnceRequest = { caller: string; key: string; method: string; path: string; body: unknown };

export type OnceResult = { status: number; body: unknown; mayChange?: boolean };

export type OnceLedger = Pick<Ledger, "claimKey" | "saveAnswer" | "releaseKey">;

const PLAIN_KEY = /^[\x21-\x7e]{1,200}$/;
// As long as an answer may take. A claim that is older belongs to a process that died or a handler that hangs, and is taken
// over.
const CLAIM_MS = ANSWER_TIMEOUT_MS;
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

// The public SDKs send whatever text they are given. What is long, or not plain, is known by its hash.
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== "string" || header === "") throw new ApiError("invalid_request", "Idempotency-Key is empty");
  return PLAIN_KEY.test(header) ? header : `sha256:${hash("sha256", header)}`;
}

export type WithIdempotency = (
  request: OnceRequest,
  work: () => Promise<OnceResult>,
) => Promise<Answer & { replayed: boolean }>;

type Context = { ledger: OnceLedger; clock: Clock };

// A request of this process that is not answered yet.
type Running = { digest: Hex; atMs: number; done: Promise<Answer> };

// Does a request once and answers its repetitions as it was answered first. The key is claimed before anything is done, and
// whoever comes with it meanwhile waits for the answer, on this daemon or another. Only results are kept: a refusal depends
// on how things stand, and a failure of this side on less, so after either the same key is judged again, and so it is after a list
// of which a part was refused. Whatever a crash cuts off is done again under the same ids once the claim is old, and the
// ledger knows them: nothing happens twice.
//
// Those who wait on this daemon wait for the first one itself and share what becomes of it, a refusal too: they have asked
// the same at the same time, and judged one after the other they would wait for each other.
export function createWithIdempotency({ ledger, clock }: Context): WithIdempotency {
  const running = new Map<string, Running>();

  return async (request, work) => {
    const name = JSON.stringify([request.caller, request.key]);
    const digest = digestOf(request);
    const first = running.get(name);
    const nowMs = clock.nowMs();
    if (first !== undefined && nowMs >= first.atMs && nowMs - first.atMs < CLAIM_MS) {
      if (first.digest !== digest) throw conflict();
      return { ...(await first.done), replayed: true };
    }
    const done = once({ ledger, clock }, { ...request, digest }, work);
    const own = { digest, atMs: nowMs, done };
    running.set(name, own);
    try {
      return await done;
    } finally {
      if (running.get(name) === own) running.delete(name);
    }
  };
}

async function once(
  { ledger, clock }: Context,
  { caller, key, digest }: OnceRequest & { digest: Hex },
  work: () => Promise<OnceResult>,
): Promise<Answer & { replayed: boolean }> {
  const claim = await claimOrWait({ ledger, clock }, { caller, key, digest });
  if (claim.kind === "answered") return { ...claim.answer, replayed: true };
  // If this fails, the claim gets old by itself.
  const giveBack = () => ledger.releaseKey(caller, key, claim.atMs).catch(() => undefined);
  try {
    const { status, body, mayChange = false } = await work();
    const own = { status, body: JSON.stringify(body) };
    if (mayChange) {
      await giveBack();
      return { ...own, replayed: false };
    }
    const kept = await ledger.saveAnswer(caller, key, own);
    // Another process that took over the claim may have answered before.
    return { ...kept, replayed: kept.status !== own.status || kept.body !== own.body };
  } catch (error) {
    await giveBack();
    throw error;
  }
}

async function claimOrWait(
  { ledger, clock }: Context,
  claim: { caller: string; key: string; digest: Hex },
): Promise<{ kind: "claimed"; atMs: number } | { kind: "answered"; answer: Answer }> {
  for (let waitMs = FIRST_PAUSE_MS, waitedMs = 0; waitedMs <= CLAIM_MS; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
    const claimed = await ledger.claimKey(claim, clock.nowMs(), CLAIM_MS);
    if (claimed.kind === "conflict") throw conflict();
    if (claimed.kind !== "running") return claimed;
    await pause(waitMs);
    waitedMs += waitMs;
  }
  throw new ApiError("unavailable", "the first request under this Idempotency-Key is still running; try again later");
}

const conflict = () => new ApiError("idempotency_conflict", "this Idempotency-Key was used for another request before");

function digestOf({ method, path, body }: OnceRequest): Hex {
  return `0x${hash("sha256", JSON.stringify([method, path, body ?? null]))}`;
}

// What a request under a key creates is named after the key.
export function newIdOf(caller: string, key: string | null): () => string {
  return key === null ? randomUUID : () => uuidFromDigest(hash("sha256", JSON.stringify([caller, key])));
}

import { hash, randomUUID } from "node:crypto";
import type { Hex } from "viem";
import type { Clock } from "../clock.ts";
import type { Answer, Ledger } from "../ledger/ledger.ts";
import { ApiError, apiErrorOf } from "./errors.ts";
import type { Answered } from "./route.ts";

export type OnceRequest = { caller: string; key: string; method: string; path: string; body: unknown };

const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/;
const FIRST_SERVER_ERROR = 500;

export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && KEY_PATTERN.test(header)) return header;
  throw new ApiError("invalid_request", "Idempotency-Key has to have 1 to 200 visible characters.");
}

// Does a request once and answers its repetitions as it was answered first. The key is taken before anything is done and
// the answer is kept afterwards. Whatever is cut off in between is done again under the same ids, and the ledger knows
// them: nothing happens twice. Failures of this side are not kept, so that a retry can succeed.
export async function answerOnce(
  ledger: Ledger,
  clock: Clock,
  request: OnceRequest,
  work: () => Promise<Answered>,
): Promise<Answer & { replayed: boolean }> {
  const { caller, key } = request;
  const claim = await ledger.claimKey({ caller, key, digest: digestOf(request) }, clock.nowMs());
  if (claim.kind === "conflict") {
    throw new ApiError("idempotency_conflict", "This Idempotency-Key was used for another request before.");
  }
  if (claim.kind === "answered") return { ...claim.answer, replayed: true };
  const { answer, stored } = await answerOf(work);
  const first = await ledger.saveAnswer(caller, key, stored);
  const isFirst = first.status === stored.status && first.body === stored.body;
  return isFirst ? { ...answer, replayed: false } : { ...first, replayed: true };
}

async function answerOf(work: () => Promise<Answered>): Promise<{ answer: Answer; stored: Answer }> {
  try {
    const { status = 200, body, stored = body } = await work();
    return { answer: { status, body: JSON.stringify(body) }, stored: { status, body: JSON.stringify(stored) } };
  } catch (error) {
    const { status, body } = apiErrorOf(error);
    if (status >= FIRST_SERVER_ERROR) throw error;
    const answer = { status, body: JSON.stringify(body) };
    return { answer, stored: answer };
  }
}

function digestOf({ method, path, body }: OnceRequest): Hex {
  return `0x${hash("sha256", JSON.stringify([method, path, body ?? null]))}`;
}

// What a request under a key makes is named after the key, in the form of a UUID.
export function newIdOf(caller: string, key: string | null): () => string {
  if (key === null) return randomUUID;
  return () => {
    const digits = hash("sha256", JSON.stringify([caller, key]));
    return [0, 8, 12, 16, 20].map((start, i, starts) => digits.slice(start, starts[i + 1] ?? 32)).join("-");
  };
}

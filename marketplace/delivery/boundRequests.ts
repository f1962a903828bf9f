import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { isOnBehalf } from "./boundDeliveries.ts";

export type RequestBounds = {
  // Of all bodies that are received or worked on, in bytes, and of those of one account or network.
  maxBytes: number;
  maxBytesOfReader: number;
  // What a body has at the most. One that does not say how long it is counts as much.
  maxBodyBytes: number;
};

// What is shorter is not worth a look.
const SMALL_BYTES = 4 * 1_024;
const RETRY_AFTER_MS = 1_000;
// Longer than anything is worked on for somebody who has gone.
const GONE_MS = 180_000;

// A body stays in memory, several times over once it is read, until its request is answered, which for a call may take a minute. So nobody
// has more than a share of them, and all together have a bound as well, above which each has one at a time: strangers who send slowly, or
// call what never answers, keep nobody from calling.
export function boundRequests(
  app: FastifyInstance,
  { maxBytes, maxBytesOfReader, maxBodyBytes }: RequestBounds,
  readerOf: (request: FastifyRequest) => string,
): { unanswered(): number } {
  const readers = new Map<string, number>();
  const held = new WeakMap<FastifyRequest, () => void>();
  let total = 0;

  function change(reader: string, bytes: number): void {
    total += bytes;
    const left = (readers.get(reader) ?? 0) + bytes;
    if (left === 0) readers.delete(reader);
    else readers.set(reader, left);
  }

  app.addHook("preParsing", async (request, reply) => {
    if (isOnBehalf()) return;
    // Whoever has gone while this was admitted sends nothing more, and nothing would say so again.
    if (request.raw.destroyed || reply.raw.closed) throw unanswered();
    const bytes = lengthOf(request, maxBodyBytes);
    if (bytes <= SMALL_BYTES) return;
    const reader = readerOf(request);
    const own = readers.get(reader) ?? 0;
    if (own > 0 && (own + bytes > maxBytesOfReader || total + bytes > maxBytes)) throw unanswered();
    change(reader, bytes);
    let isHeld = true;
    const release = () => {
      if (isHeld) change(reader, -bytes);
      isHeld = false;
    };
    held.set(request, release);
    // Whoever hangs up is still worked for, and his body stays where it is: only the answer ends that.
    reply.raw.once("close", () => isHeld && setTimeout(release, GONE_MS).unref());
  });
  app.addHook("onSend", async (request, _reply, payload) => {
    const release = held.get(request);
    if (release === undefined) return;
    // A stream begins before anything is worked on.
    if (payload instanceof Readable) payload.once("close", release);
    else release();
  });
  return { unanswered: () => total };
}

function lengthOf({ headers }: FastifyRequest, maxBodyBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers["content-length"]) || 0, maxBodyBytes);
}

const unanswered = () =>
  new ApiError(
    "unavailable",
    "too much of what you have sent is still worked on; wait for those answers, and ask again, under the same Idempotency-Key if there was one",
    { retryAfterMs: RETRY_AFTER_MS },
  );

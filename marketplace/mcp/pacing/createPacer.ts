import { McpFailure } from "../McpFailure.ts";
import type { RateLimitHints } from "./hints.ts";

// How a call went, as far as its pace is concerned. `neutral` tells nothing about it.
export type Feedback = "succeeded" | "throttled" | "neutral";

// Paces the calls of one method over all buyers, since the quota behind it is the contributor's.
export type Pacer = {
  // Resolves when the call may begin, with a function that must be told once how it went.
  enter(hints: RateLimitHints, signal: AbortSignal): Promise<(feedback: Feedback) => void>;
  // What is kept between two calls at present, for whoever looks.
  cooldownMs(): number;
};

type Waiter = { hints: RateLimitHints; begin(): void };

const MINUTE_MS = 60_000;
// A method that pushes back is left alone for twice as long each time, and comes back by halves.
const FIRST_COOLDOWN_MS = 500;
const MAX_COOLDOWN_MS = 30_000;
const SUCCESSES_TO_RELAX = 5;
// More cannot be served within the time of a call, and each of them costs memory.
const MAX_WAITING = 1_000;

export function createPacer(): Pacer {
  const queue: Waiter[] = [];
  // When the calls of the last minute began, oldest first.
  let begun: number[] = [];
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  let inFlight = 0;
  let adaptiveMs = 0;
  let successes = 0;
  let baselineMs = 0;
  let timer: NodeJS.Timeout | undefined;

  // How long the first in the queue still waits; undefined if a call has to end before.
  function waitMs({ maxRequestsPerMinute, maxConcurrency }: RateLimitHints, nowMs: number): number | undefined {
    if (maxConcurrency !== undefined && inFlight >= maxConcurrency) return undefined;
    begun = begun.filter((beginMs) => beginMs > nowMs - MINUTE_MS);
    const afterCooldown = lastBegunMs + Math.max(baselineMs, adaptiveMs) - nowMs;
    if (maxRequestsPerMinute === undefined) return Math.max(0, afterCooldown);
    const leaving = begun[begun.length - maxRequestsPerMinute];
    return Math.max(0, afterCooldown, leaving === undefined ? 0 : leaving + MINUTE_MS - nowMs);
  }

  function advance(): void {
    clearTimeout(timer);
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      baselineMs = first.hints.cooldownMs ?? 0;
      const nowMs = performance.now();
      const remainingMs = waitMs(first.hints, nowMs);
      if (remainingMs === undefined) return;
      if (remainingMs > 0) {
        timer = setTimeout(advance, Math.ceil(remainingMs));
        return;
      }
      queue.shift();
      inFlight++;
      lastBegunMs = nowMs;
      if (first.hints.maxRequestsPerMinute !== undefined) begun.push(nowMs);
      first.begin();
    }
  }

  function learn(feedback: Feedback): void {
    if (feedback === "throttled") {
      successes = 0;
      adaptiveMs = Math.min(MAX_COOLDOWN_MS, Math.max(FIRST_COOLDOWN_MS, 2 * Math.max(baselineMs, adaptiveMs)));
    } else if (feedback === "succeeded" && ++successes >= SUCCESSES_TO_RELAX) {
      successes = 0;
      adaptiveMs = adaptiveMs / 2 < FIRST_COOLDOWN_MS / 2 ? 0 : adaptiveMs / 2;
    }
  }

  function leave(): (feedback: Feedback) => void {
    let left = false;
    return (feedback) => {
      if (left) return;
      left = true;
      inFlight--;
      learn(feedback);
      advance();
    };
  }

  return {
    async enter(hints, signal) {
      signal.throwIfAborted();
      if (queue.length >= MAX_WAITING) {
        throw new McpFailure("overloaded", "too many calls wait for this method; try again later");
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter: Waiter = { hints, begin: resolve };
      const giveUp = () => {
        const index = queue.indexOf(waiter);
        if (index < 0) return;
        queue.splice(index, 1);
        reject(signal.reason);
        advance();
      };
      queue.push(waiter);
      signal.addEventListener("abort", giveUp, { once: true });
      advance();
      try {
        await promise;
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
      return leave();
    },
    cooldownMs: () => Math.max(baselineMs, adaptiveMs),
  };
}

import { LRUCache } from "lru-cache";
import { McpFailure } from "../McpFailure.ts";
import { type Cooldown, createCooldown } from "./createCooldown.ts";
import type { RateLimitHints } from "./hints.ts";

// How a call went, as far as its pace is concerned. `neutral` tells nothing about it.
export type Feedback = "succeeded" | "throttled" | "neutral";

// Paces the calls of one method over all buyers, since the quota behind it is the contributor's.
export type Pacer = {
  // Resolves when the call may begin, with a function that must be told once how it went.
  enter(hints: RateLimitHints, signal: AbortSignal, account?: string): Promise<(feedback: Feedback) => void>;
  // What is kept between two calls at present, of everybody or of one account, for whoever looks.
  cooldownMs(account?: string): number;
};

type Waiter = { hints: RateLimitHints; begin(): void };
type Slowed = { cooldown: Cooldown; lastBegunMs: number };

const MINUTE_MS = 60_000;
// More cannot be served within the time of a call, and each of them costs memory.
const MAX_WAITING = 1_000;
const MAX_WAITING_OF_AN_ACCOUNT = 100;
const MAX_SLOWED = 1_000;
// What one account meets may be its own doing: a tool can be made to fail in any words by whoever chooses its arguments.
const ACCOUNTS_TO_SLOW_ALL = 2;
// Above this Node's timers end at once, and a contributor may declare any cooldown. Nobody waits for so long.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Whoever is not named, such as those who check a tool, shares a turn and has no share.
const NOBODY = "";

export function createPacer(): Pacer {
  // Who waits, by account, in the order in which it is their turn.
  const queues = new Map<string, Waiter[]>();
  let waiting = 0;
  // When the calls of the last minute began, oldest first.
  let begun: number[] = [];
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  let inFlight = 0;
  const everybody = createCooldown();
  const slowed = new LRUCache<string, Slowed>({ max: MAX_SLOWED });
  // Who was throttled since a call last succeeded.
  const throttled = new Set<string>();
  let baselineMs = 0;
  let timer: NodeJS.Timeout | undefined;

  // How long the first of an account still waits; undefined if a call has to end before.
  function waitMs(
    account: string,
    { maxRequestsPerMinute, maxConcurrency, cooldownMs = 0 }: RateLimitHints,
    nowMs: number,
  ): number | undefined {
    baselineMs = cooldownMs;
    if (maxConcurrency !== undefined && inFlight >= maxConcurrency) return undefined;
    begun = begun.filter((beginMs) => beginMs > nowMs - MINUTE_MS);
    const own = slowed.peek(account);
    const afterCooldown = Math.max(
      lastBegunMs + Math.max(baselineMs, everybody.ms()) - nowMs,
      own === undefined ? 0 : own.lastBegunMs + own.cooldown.ms() - nowMs,
    );
    if (maxRequestsPerMinute === undefined) return Math.max(0, afterCooldown);
    const leaving = begun[begun.length - maxRequestsPerMinute];
    return Math.max(0, afterCooldown, leaving === undefined ? 0 : leaving + MINUTE_MS - nowMs);
  }

  // Begins the call of the account whose turn it is, if one may begin. Otherwise how long the next one waits, if that is known.
  function beginNext(): "begun" | number | undefined {
    const nowMs = performance.now();
    let soonestMs: number | undefined;
    for (const [account, [first]] of queues) {
      if (first === undefined) continue;
      const remainingMs = waitMs(account, first.hints, nowMs);
      if (remainingMs === 0) {
        begin(account, first, nowMs);
        return "begun";
      }
      if (remainingMs !== undefined) soonestMs = Math.min(soonestMs ?? remainingMs, remainingMs);
    }
    return soonestMs;
  }

  function begin(account: string, waiter: Waiter, nowMs: number): void {
    remove(account, waiter);
    // Whoever has had a turn comes after all others.
    const rest = queues.get(account);
    if (rest !== undefined) {
      queues.delete(account);
      queues.set(account, rest);
    }
    inFlight++;
    lastBegunMs = nowMs;
    const own = slowed.get(account);
    if (own !== undefined) own.lastBegunMs = nowMs;
    if (waiter.hints.maxRequestsPerMinute !== undefined) begun.push(nowMs);
    waiter.begin();
  }

  function remove(account: string, waiter: Waiter): boolean {
    const queue = queues.get(account) ?? [];
    const index = queue.indexOf(waiter);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) queues.delete(account);
    waiting--;
    return true;
  }

  function advance(): void {
    clearTimeout(timer);
    let next = beginNext();
    while (next === "begun") next = beginNext();
    if (next !== undefined) timer = setTimeout(advance, Math.min(Math.ceil(next), LONGEST_TIMER_MS));
  }

  function learn(feedback: Feedback, account: string, begunAtMs: number): void {
    if (feedback === "throttled") {
      const own = slowed.get(account) ?? { cooldown: createCooldown(), lastBegunMs: begunAtMs };
      own.cooldown.slow(baselineMs);
      slowed.set(account, own);
      if (throttled.size < ACCOUNTS_TO_SLOW_ALL) throttled.add(account);
      if (throttled.size >= ACCOUNTS_TO_SLOW_ALL) everybody.slow(baselineMs);
    } else if (feedback === "succeeded") {
      throttled.clear();
      everybody.relax();
      const own = slowed.peek(account);
      own?.cooldown.relax();
      if (own?.cooldown.ms() === 0) slowed.delete(account);
    }
  }

  function leave(account: string): (feedback: Feedback) => void {
    const begunAtMs = performance.now();
    let left = false;
    return (feedback) => {
      if (left) return;
      left = true;
      inFlight--;
      learn(feedback, account, begunAtMs);
      advance();
    };
  }

  return {
    async enter(hints, signal, account = NOBODY) {
      signal.throwIfAborted();
      const queue = queues.get(account) ?? [];
      const isOverShare = account !== NOBODY && queue.length >= MAX_WAITING_OF_AN_ACCOUNT;
      if (isOverShare || waiting >= MAX_WAITING) {
        const whose = isOverShare ? "too many calls of yours" : "too many calls";
        throw new McpFailure("overloaded", `${whose} wait for this method; try again later`);
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter: Waiter = { hints, begin: resolve };
      const giveUp = () => {
        if (!remove(account, waiter)) return;
        reject(signal.reason);
        advance();
      };
      queue.push(waiter);
      queues.set(account, queue);
      waiting++;
      signal.addEventListener("abort", giveUp, { once: true });
      advance();
      try {
        await promise;
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
      return leave(account);
    },
    cooldownMs: (account) =>
      Math.max(baselineMs, everybody.ms(), account === undefined ? 0 : (slowed.peek(account)?.cooldown.ms() ?? 0)),
  };
}

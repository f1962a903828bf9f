import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBreaker } from "./createBreaker.ts";
import { createPacer, type Feedback, type Pacer } from "./createPacer.ts";
import { createRoom } from "./createRoom.ts";
import type { RateLimitHints } from "./hints.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const patient = new AbortController().signal;

// Asks for so many calls at once and notes when each may begin.
function queue(pacer: Pacer, hints: RateLimitHints, calls: number) {
  const startMs = performance.now();
  const begun: number[] = [];
  const leaves: ((feedback: Feedback) => void)[] = [];
  for (let call = 0; call < calls; call++) {
    void pacer.enter(hints, patient).then((leave) => {
      begun.push(Math.round(performance.now() - startMs));
      leaves.push(leave);
    });
  }
  return { begun, leaves };
}

async function callOnce(pacer: Pacer, feedback: Feedback, hints: RateLimitHints = {}): Promise<void> {
  const entering = pacer.enter(hints, patient);
  await vi.advanceTimersByTimeAsync(60_000);
  (await entering)(feedback);
}

describe("declared hints", () => {
  it("without any, calls begin at once", async () => {
    const { begun } = queue(createPacer(), {}, 100);
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(Array(100).fill(0));
  });

  it("cooldownMs is kept between the beginnings of calls", async () => {
    const { begun } = queue(createPacer(), { cooldownMs: 250 }, 4);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(begun).toEqual([0, 250, 500, 750]);
  });

  it("maxRequestsPerMinute is kept in any 60 seconds", async () => {
    const { begun } = queue(createPacer(), { maxRequestsPerMinute: 2 }, 5);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(begun).toEqual([0, 0, 60_000, 60_000, 120_000]);
  });

  it("maxConcurrency is kept, and a call that ends lets the next begin", async () => {
    const { begun, leaves } = queue(createPacer(), { maxConcurrency: 2 }, 3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(begun).toEqual([0, 0]);
    leaves[0]?.("succeeded");
    leaves[0]?.("succeeded");
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual([0, 0, 1_000]);
  });

  it("whoever gives up makes room, and begins nothing", async () => {
    const pacer = createPacer();
    const leaving = new AbortController();
    const { leaves } = queue(pacer, { maxConcurrency: 1 }, 1);
    const impatient = pacer.enter({ maxConcurrency: 1 }, leaving.signal);
    const { begun } = queue(pacer, { maxConcurrency: 1 }, 1);
    await vi.advanceTimersByTimeAsync(0);
    leaving.abort(new Error("left"));
    await expect(impatient).rejects.toThrow("left");
    leaves[0]?.("succeeded");
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(1);
  });

  it("a thousand may wait, and no more", async () => {
    const pacer = createPacer();
    queue(pacer, { maxConcurrency: 1 }, 1_001);
    await expect(pacer.enter({ maxConcurrency: 1 }, patient)).rejects.toThrow("too many");
  });
});

describe("adaptive feedback", () => {
  it("doubles from half a second to half a minute, and comes back by halves after five successes each", async () => {
    const pacer = createPacer();
    const seen: number[] = [];
    for (let i = 0; i < 8; i++) {
      await callOnce(pacer, "throttled");
      seen.push(pacer.cooldownMs());
    }
    expect(seen).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    for (let i = 0; i < 4; i++) await callOnce(pacer, "succeeded");
    expect(pacer.cooldownMs()).toBe(30_000);
    await callOnce(pacer, "succeeded");
    expect(pacer.cooldownMs()).toBe(15_000);
    for (let i = 0; i < 30; i++) await callOnce(pacer, "succeeded");
    expect(pacer.cooldownMs()).toBe(0);
  });

  it("never falls below what was declared", async () => {
    const pacer = createPacer();
    const hints = { cooldownMs: 2_000 };
    await callOnce(pacer, "throttled", hints);
    expect(pacer.cooldownMs()).toBe(4_000);
    for (let i = 0; i < 50; i++) await callOnce(pacer, "succeeded", hints);
    expect(pacer.cooldownMs()).toBe(2_000);
  });

  it("a failure that says nothing about the pace changes nothing", async () => {
    const pacer = createPacer();
    await callOnce(pacer, "throttled");
    await callOnce(pacer, "neutral");
    expect(pacer.cooldownMs()).toBe(500);
  });
});

describe("the breaker", () => {
  const isOpen = (breaker: ReturnType<typeof createBreaker>) => {
    try {
      breaker.check();
      return false;
    } catch {
      return true;
    }
  };

  it("opens after five failures in a row, and not before", () => {
    const breaker = createBreaker();
    for (let i = 0; i < 4; i++) breaker.failed();
    breaker.succeeded();
    for (let i = 0; i < 4; i++) breaker.failed();
    expect(isOpen(breaker)).toBe(false);
    breaker.failed();
    expect(isOpen(breaker)).toBe(true);
  });

  it("lets one call try, waits twice as long if it fails, and closes if it succeeds", () => {
    const breaker = createBreaker();
    for (let i = 0; i < 5; i++) breaker.failed();
    vi.advanceTimersByTime(5_000);
    expect(isOpen(breaker)).toBe(false);
    expect(isOpen(breaker)).toBe(true);
    breaker.failed();
    vi.advanceTimersByTime(9_999);
    expect(isOpen(breaker)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(isOpen(breaker)).toBe(false);
    breaker.abstained();
    expect(isOpen(breaker)).toBe(false);
    breaker.succeeded();
    expect(isOpen(breaker)).toBe(false);
    expect(isOpen(breaker)).toBe(false);
  });
});

describe("a room", () => {
  const never = new AbortController().signal;

  it("lets so many in at a time, the others as places are left, and nobody twice for one", async () => {
    const room = createRoom(2);
    const first = await room.enter(never);
    await room.enter(never);
    const order: string[] = [];
    const third = room.enter(never).then(() => order.push("third"));
    const fourth = room.enter(never).then(() => order.push("fourth"));
    first();
    first();
    await third;
    expect(order).toEqual(["third"]);
    void fourth;
  });

  it("forgets whoever has given up, and keeps no place for it", async () => {
    const room = createRoom(1);
    const leave = await room.enter(never);
    const impatient = new AbortController();
    const waiting = room.enter(impatient.signal);
    impatient.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    leave();
    await expect(room.enter(never)).resolves.toBeTypeOf("function");
  });
});

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

async function callOnce(pacer: Pacer, feedback: Feedback, hints: RateLimitHints = {}, account?: string): Promise<void> {
  const entering = pacer.enter(hints, patient, account);
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

  it.each([2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER])(
    "a cooldown of %i ms, which no timer holds, keeps nobody busy while it lasts",
    async (cooldownMs) => {
      using timers = vi.spyOn(globalThis, "setTimeout");
      const { begun } = queue(createPacer(), { cooldownMs }, 2);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(begun).toEqual([0]);
      expect(timers.mock.calls.length).toBeLessThan(5);
    },
  );

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

  it("an account has a share of those who wait, and takes turns with the others", async () => {
    const pacer = createPacer();
    const hints = { maxConcurrency: 1 };
    const order: string[] = [];
    const ask = (account: string) =>
      pacer.enter(hints, patient, account).then((leave) => {
        order.push(account);
        return leave;
      });
    const first = ask("first");
    const crowd = Array.from({ length: 100 }, () => ask("crowd"));
    await expect(ask("crowd")).rejects.toThrow("too many calls of yours");
    const late = ask("late");
    (await first)("neutral");
    (await crowd[0])?.("neutral");
    (await late)("neutral");
    (await crowd[1])?.("neutral");
    expect(order.slice(0, 4)).toEqual(["first", "crowd", "late", "crowd"]);
  });
});

describe("adaptive feedback", () => {
  it("doubles from half a second to half a minute, and comes back by halves after five successes each", async () => {
    const pacer = createPacer();
    const seen: number[] = [];
    await callOnce(pacer, "throttled", {}, "one");
    for (let i = 0; i < 8; i++) {
      await callOnce(pacer, "throttled", {}, "other");
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
    await callOnce(pacer, "throttled", hints, "one");
    await callOnce(pacer, "throttled", hints, "other");
    expect(pacer.cooldownMs()).toBe(4_000);
    for (let i = 0; i < 50; i++) await callOnce(pacer, "succeeded", hints);
    expect(pacer.cooldownMs()).toBe(2_000);
  });

  it("a failure that says nothing about the pace changes nothing", async () => {
    const pacer = createPacer();
    await callOnce(pacer, "throttled", {}, "one");
    await callOnce(pacer, "neutral", {}, "one");
    expect(pacer.cooldownMs("one")).toBe(500);
  });

  it("what one account meets slows that account alone, however often it meets it", async () => {
    const pacer = createPacer();
    for (let i = 0; i < 8; i++) await callOnce(pacer, "throttled", {}, "one");
    expect([pacer.cooldownMs("one"), pacer.cooldownMs("other"), pacer.cooldownMs()]).toEqual([30_000, 0, 0]);
    const begun: string[] = [];
    const enter = (account: string) => pacer.enter({}, patient, account).then(() => begun.push(account));
    void enter("one");
    await vi.advanceTimersByTimeAsync(0);
    void enter("one");
    void enter("other");
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(["one", "other"]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(begun).toEqual(["one", "other", "one"]);
  });

  it("two accounts slow everybody, unless a call has succeeded in between", async () => {
    const pacer = createPacer();
    await callOnce(pacer, "throttled", {}, "one");
    await callOnce(pacer, "succeeded", {}, "honest");
    await callOnce(pacer, "throttled", {}, "other");
    expect(pacer.cooldownMs("honest")).toBe(0);
    await callOnce(pacer, "throttled", {}, "one");
    expect(pacer.cooldownMs("honest")).toBe(500);
  });
});

describe("the breaker", () => {
  const gone = async () => false;
  const there = async () => true;
  const never = () => {
    throw new Error("nobody has to ask");
  };
  const isOpen = (breaker: ReturnType<typeof createBreaker>, isThere: () => Promise<boolean> = never) =>
    breaker.check(isThere).then(
      () => false,
      (error) => {
        expect(error).toMatchObject({ reason: "circuitOpen" });
        return true;
      },
    );
  const failing = (times: number) => {
    const breaker = createBreaker();
    for (let i = 0; i < times; i++) breaker.failed();
    return breaker;
  };

  it("has the endpoint asked after five failures in a row, and not before", async () => {
    const breaker = failing(4);
    breaker.succeeded();
    for (let i = 0; i < 4; i++) breaker.failed();
    expect(await isOpen(breaker)).toBe(false);
    breaker.failed();
    expect(await isOpen(breaker, gone)).toBe(true);
    expect(await isOpen(breaker)).toBe(true);
  });

  it("stays closed if the endpoint is there, whatever calls fail of", async () => {
    const breaker = failing(5);
    expect(await isOpen(breaker, there)).toBe(false);
    expect(await isOpen(breaker)).toBe(false);
  });

  it("asks again when its time has passed, waits twice as long if nobody is there, and closes if somebody is", async () => {
    const breaker = failing(5);
    expect(await isOpen(breaker, gone)).toBe(true);
    vi.advanceTimersByTime(4_999);
    expect(await isOpen(breaker)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await isOpen(breaker, gone)).toBe(true);
    vi.advanceTimersByTime(9_999);
    expect(await isOpen(breaker)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await isOpen(breaker, there)).toBe(false);
    expect(await isOpen(breaker)).toBe(false);
  });

  it("is asked once for all who wait", async () => {
    const breaker = failing(5);
    const answer = Promise.withResolvers<boolean>();
    let asked = 0;
    const ask = () => {
      asked++;
      return answer.promise;
    };
    const all = [isOpen(breaker, ask), isOpen(breaker, ask), isOpen(breaker, ask)];
    answer.resolve(true);
    expect(await Promise.all(all)).toEqual([false, false, false]);
    expect(asked).toBe(1);
  });

  it("a question that nobody could ask is asked again", async () => {
    const breaker = failing(5);
    const unsigned = () => Promise.reject(new Error("the keys are gone"));
    await expect(breaker.check(unsigned)).rejects.toThrow("the keys are gone");
    expect(await isOpen(breaker, there)).toBe(false);
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

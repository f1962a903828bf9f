import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../clock.ts";
import { runLoop } from "./runLoop.ts";

const log = pino({ level: "silent" });
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("never runs two ticks at a time", async () => {
  let running = 0;
  let most = 0;
  const tick = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    running -= 1;
  };
  const loop = runLoop({ tick, everyMs: 1_000, clock: systemClock, log });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(most).toBe(1);
  const stopped = loop.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  await stopped;
});

it("tries a tick that throws again after waits that double, and says why in the meantime", async () => {
  const times: number[] = [];
  const startMs = Date.now();
  const tick = async () => {
    times.push(Date.now() - startMs);
    if (times.length < 4) throw new Error("the disk is full");
  };
  const loop = runLoop({ tick, everyMs: 1_000, clock: systemClock, log });
  await vi.advanceTimersByTimeAsync(6_500);
  expect(times).toEqual([0, 2_000, 6_000]);
  expect(loop.state()).toMatchObject({ failures: 3, lastError: "the disk is full", lastDoneAtMs: null });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(loop.state()).toMatchObject({ failures: 0, lastError: null, lastDoneAtMs: startMs + 14_000 });
  await loop.stop();
});

it("waits half a minute at most, however often it fails", async () => {
  let ticks = 0;
  const tick = async () => {
    ticks += 1;
    throw new Error("still");
  };
  const loop = runLoop({ tick, everyMs: 1_000, clock: systemClock, log });
  await vi.advanceTimersByTimeAsync(300_000);
  const before = ticks;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(ticks).toBe(before + 1);
  await loop.stop();
});

it("stops at once between two ticks", async () => {
  const tick = vi.fn(async () => {});
  const loop = runLoop({ tick, everyMs: 60_000, clock: systemClock, log });
  await vi.advanceTimersByTimeAsync(0);
  await loop.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(tick).toHaveBeenCalledTimes(1);
});

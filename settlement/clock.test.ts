import { expect, it } from "vitest";
import { createFollowingClock } from "./clock.ts";

it("a clock that follows another one goes by that, and by its own where the two hardly differ", () => {
  let nowMs = 1_000_000;
  const clock = createFollowingClock({ nowMs: () => nowMs });
  expect(clock.nowMs()).toBe(1_000_000);
  clock.follow(1_300_000);
  expect(clock.nowMs()).toBe(1_300_000);
  nowMs += 5_000;
  expect(clock.nowMs()).toBe(1_305_000);
  clock.follow(nowMs - 2_592_000_000);
  expect(clock.nowMs()).toBe(nowMs - 2_592_000_000);
  clock.follow(nowMs + 900);
  expect(clock.nowMs()).toBe(nowMs);
});

it("what its own is set to since does not move it", () => {
  let [nowMs, elapsedMs] = [1_000_000, 50];
  const clock = createFollowingClock({ nowMs: () => nowMs, elapsedMs: () => elapsedMs });
  clock.follow(1_000_100);
  for (const jumpMs of [600_000, -2_592_000_000]) {
    nowMs += jumpMs;
    elapsedMs += 20;
    expect(clock.nowMs()).toBe(1_000_000 + elapsedMs - 50);
  }
  clock.follow(1_000_500);
  expect(clock.nowMs()).toBe(1_000_500);
});

import { expect, it } from "vitest";
import { createRateLimit } from "./rateLimit.ts";

function limitAt(options: { maxCallers?: number; maxWaitMs?: number } = {}) {
  let nowMs = 0;
  const take = createRateLimit({ perSecond: 2, burst: 3, clock: { nowMs: () => nowMs }, ...options });
  return {
    take,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

it("lets a burst through, then as much as time brings, and says how long to wait", () => {
  const { take, advance } = limitAt();
  expect([take("a"), take("a"), take("a"), take("a")]).toEqual([0, 0, 0, 500]);
  advance(499);
  expect(take("a")).toBe(1);
  advance(1);
  expect([take("a"), take("a")]).toEqual([0, 500]);
});

it("lets those who would rather wait have later tokens, one after the other, and only so much later", () => {
  const { take, advance } = limitAt({ maxWaitMs: 1_000 });
  expect([take("a"), take("a"), take("a"), take("a"), take("a")]).toEqual([0, 0, 0, 500, 1_000]);
  // Not taken: whoever was refused leaves the others' places as they were.
  expect([take("a"), take("a")]).toEqual([1_500, 1_500]);
  advance(500);
  expect([take("a"), take("a")]).toEqual([1_000, 1_500]);
});

it("counts every caller alone", () => {
  const { take } = limitAt();
  for (let i = 0; i < 3; i++) take("a");
  expect(take("a")).toBeGreaterThan(0);
  expect(take("b")).toBe(0);
});

it("gives nothing for a clock that was set back", () => {
  const { take, advance } = limitAt();
  for (let i = 0; i < 3; i++) take("a");
  advance(-10_000);
  expect(take("a")).toBeGreaterThan(0);
});

it("remembers a bounded number of callers and forgets the quietest first", () => {
  const { take } = limitAt({ maxCallers: 2 });
  for (const caller of ["a", "b"]) for (let i = 0; i < 3; i++) take(caller);
  expect(take("a")).toBeGreaterThan(0);
  take("c");
  expect(take("a")).toBeGreaterThan(0);
  expect(take("b")).toBe(0);
});

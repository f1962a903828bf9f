import { describe, expect, it } from "vitest";
import { NOTHING_YET, plus, rolledTo, totalOf } from "./rollingSum.ts";

const HOUR_MS = 3_600_000;

describe("what was added in any 24 hours", () => {
  it("is all there for 24 hours, whenever it was added, and gone after 32", () => {
    for (const at of [0, 1, HOUR_MS, 7 * HOUR_MS, 8 * HOUR_MS - 1, 8 * HOUR_MS]) {
      const sum = plus(rolledTo(NOTHING_YET, at), 5n);
      expect(totalOf(rolledTo(sum, at + 24 * HOUR_MS - 1))).toBe(5n);
      expect(totalOf(rolledTo(sum, at + 32 * HOUR_MS))).toBe(0n);
      expect(totalOf(rolledTo(sum, at + 9_999 * HOUR_MS))).toBe(0n);
    }
  });

  it("adds up", () => {
    let sum = NOTHING_YET;
    for (let hour = 0; hour < 24; hour++) sum = plus(rolledTo(sum, hour * HOUR_MS), 1n);
    expect(totalOf(sum)).toBe(24n);
  });

  it("is not forgotten by a clock that was set back", () => {
    const sum = plus(rolledTo(NOTHING_YET, 100 * HOUR_MS), 5n);
    expect(totalOf(plus(rolledTo(sum, 0), 1n))).toBe(6n);
    expect(rolledTo(sum, 0).period).toBe(sum.period);
  });
});

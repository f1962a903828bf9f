import { describe, expect, it } from "vitest";
import { parseUsd } from "../money.ts";
import { creditLimitOf, exposureOf, isHigh, refuseCredit } from "./credit.ts";

const usd = parseUsd;
const policy = { base: usd("10"), growthBps: 1_000, max: usd("1000") };
const unknown = { committed: 0n, settled: 0n, prepaid: 0n };

describe("a payer's credit", () => {
  it("begins low, grows with what was paid for good, and ends at the most", () => {
    expect(creditLimitOf(policy, 0n)).toBe(usd("10"));
    expect(creditLimitOf(policy, usd("100"))).toBe(usd("20"));
    expect(creditLimitOf(policy, usd("1000000"))).toBe(usd("1000"));
  });

  it("is rounded down, and never below that of the unknown", () => {
    expect(creditLimitOf(policy, 19n)).toBe(usd("10") + 1n);
    expect(creditLimitOf({ ...policy, max: usd("1") }, usd("100"))).toBe(usd("10"));
  });

  it("lasts to its last unit, with what is pending and held", () => {
    expect(refuseCredit(policy, { ...unknown, committed: usd("9") }, usd("1"))).toBeNull();
    expect(refuseCredit(policy, { ...unknown, committed: usd("9") }, usd("1") + 1n)).toEqual({
      exposure: usd("10") + 1n,
      limit: usd("10"),
    });
  });

  it("is not needed for what prepaid money covers, nor for what costs nothing", () => {
    expect(refuseCredit(policy, { ...unknown, committed: usd("500"), prepaid: usd("500") }, usd("10"))).toBeNull();
    expect(refuseCredit(policy, { ...unknown, committed: usd("500"), prepaid: usd("500") }, usd("11"))).not.toBeNull();
    expect(refuseCredit(policy, { ...unknown, committed: usd("500") }, 0n)).toBeNull();
    expect(exposureOf({ committed: 5n, prepaid: 7n })).toBe(0n);
  });

  it("is high from its half on", () => {
    expect(isHigh(policy, { exposure: usd("5") - 1n, settled: 0n })).toBe(false);
    expect(isHigh(policy, { exposure: usd("5"), settled: 0n })).toBe(true);
    expect(isHigh(policy, { exposure: usd("5"), settled: usd("100") })).toBe(false);
  });
});

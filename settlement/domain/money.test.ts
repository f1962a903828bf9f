import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUsd, InvalidAmountError, MAX_AMOUNT, microUsdc, parseUsd } from "./money.ts";

describe("parseUsd", () => {
  it.each([
    ["0", 0n],
    ["0.000001", 1n],
    ["0.10", 100_000n],
    ["25", 25_000_000n],
    ["25.50", 25_500_000n],
    ["281474976.710655", MAX_AMOUNT],
  ])("reads %s exactly", (text, amount) => {
    expect(parseUsd(text)).toBe(amount);
  });

  it.each(["", " ", "-1", "+1", "1e3", "1E-3", ".5", "5.", "1,000", "0x10", "01", "NaN", "1 ", "١", "$1"])(
    'refuses "%s" and says how to write an amount',
    (text) => {
      expect(() => parseUsd(text)).toThrow(InvalidAmountError);
      expect(() => parseUsd(text)).toThrow(/write dollars with digits and one point/);
    },
  );

  it("refuses a seventh decimal instead of rounding it away", () => {
    expect(() => parseUsd("0.1234567")).toThrow("has 7 decimals; USDC has 6");
  });

  it("refuses more than a row of a batch has room for", () => {
    expect(() => parseUsd("281474976.710656")).toThrow("more than the largest amount, 281474976.710655");
  });
});

describe("formatUsd", () => {
  it.each([
    [0n, "0.00"],
    [1n, "0.000001"],
    [100_000n, "0.10"],
    [123_000n, "0.123"],
    [25_500_000n, "25.50"],
    [10_000_000n, "10.00"],
  ])("prints %d micro-USDC as %s", (amount, text) => {
    expect(formatUsd(microUsdc(amount))).toBe(text);
  });

  it("prints what parseUsd reads back to the same unit", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, MAX_AMOUNT), (value) => {
        expect(parseUsd(formatUsd(microUsdc(value)))).toBe(value);
      }),
    );
  });
});

it("microUsdc refuses a negative amount", () => {
  expect(() => microUsdc(-1n)).toThrow("-1 micro-USDC is negative");
});

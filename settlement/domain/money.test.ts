import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUsd, InvalidAmountError, microUsdc, parseUsd } from "./money.ts";

describe("parseUsd", () => {
  it.each([
    ["25", 25_000_000n],
    ["25.50", 25_500_000n],
    ["0.001", 1_000n],
    ["0.000001", 1n],
    ["0", 0n],
    ["007.10", 7_100_000n],
    ["123456789012345678901234567890.123456", 123456789012345678901234567890123456n],
  ])("%s is read to the last unit", (text, units) => {
    expect(parseUsd(text)).toBe(units);
  });

  it.each([
    ["", "empty"],
    [" 25", "space"],
    ["25 ", "space"],
    ["-1", "sign"],
    ["+1", "sign"],
    ["1e3", "exponent"],
    ["1,000", "comma"],
    ["1.0000001", "7 decimals"],
    ["1.", "decimal number"],
    [".5", "decimal number"],
    ["1.2.3", "decimal number"],
    ["0x10", "decimal number"],
    ["NaN", "decimal number"],
    ["٢٥", "decimal number"],
  ])("%j is refused with what is wrong with it", (text, problem) => {
    expect(() => parseUsd(text)).toThrow(InvalidAmountError);
    expect(() => parseUsd(text)).toThrow(problem);
    expect(() => parseUsd(text)).toThrow("Write US dollars as 25 or 25.50");
  });
});

describe("formatUsd", () => {
  it.each([
    [0n, "0.00"],
    [1n, "0.000001"],
    [100n, "0.0001"],
    [100_000n, "0.10"],
    [25_000_000n, "25.00"],
    [25_500_000n, "25.50"],
    [25_505_000n, "25.505"],
  ])("%d micro-USDC keeps two decimals and drops the zeros beyond", (units, text) => {
    expect(formatUsd(microUsdc(units))).toBe(text);
  });

  it("an amount survives being written and read", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (units) => {
        expect(parseUsd(formatUsd(microUsdc(units)))).toBe(units);
      }),
    );
  });
});

describe("microUsdc", () => {
  it("a negative amount is refused", () => {
    expect(() => microUsdc(-1n)).toThrow(InvalidAmountError);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { marketFees, replacementFees } from "./fees.ts";

const CEILING = 10n ** 15n;

const broadcast = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
  txHash: "0x" as const,
  raw: "0x" as const,
  maxFeePerGas,
  maxPriorityFeePerGas,
  signedAtMs: 0,
});

it("a replacement offers at least 12.5 % more on both fields, even of a single wei", () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 12n), fc.bigInt(1n, 10n ** 12n), (fee, tip) => {
      const fees = replacementFees(marketFees(1n, 1n, CEILING), broadcast(fee + tip, tip), CEILING);
      expect(fees).not.toBeNull();
      if (fees === null) return;
      expect(fees.maxFeePerGas * 1000n).toBeGreaterThanOrEqual((fee + tip) * 1125n);
      expect(fees.maxPriorityFeePerGas * 1000n).toBeGreaterThanOrEqual(tip * 1125n);
      expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(fees.maxPriorityFeePerGas);
    }),
  );
});

it("a replacement follows the market when that has risen further", () => {
  const market = marketFees(100n, 7n, 1000n);
  expect(market).toEqual({ maxFeePerGas: 207n, maxPriorityFeePerGas: 7n });
  expect(replacementFees(market, broadcast(10n, 1n), 1000n)).toEqual(market);
});

it("there is no replacement above the ceiling", () => {
  expect(replacementFees(marketFees(1n, 1n, 1100n), broadcast(1000n, 1n), 1100n)).toBeNull();
});

it("the ceiling takes away room for a rising base fee, and holds only when the chain asks for more than it", () => {
  expect(marketFees(600n, 7n, 1000n)).toEqual({ maxFeePerGas: 1000n, maxPriorityFeePerGas: 7n });
  expect(marketFees(993n, 7n, 1000n)).toEqual({ maxFeePerGas: 1000n, maxPriorityFeePerGas: 7n });
  expect(marketFees(994n, 7n, 1000n)).toBeNull();
});

import { describe, expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { RowBudget } from "../../domain/batch/batch.ts";
import { accountOf, toolOf } from "../../ledger/testing/fixtures.ts";
import { gasLimitOf, ranOutOfGas } from "./gasLimit.ts";

const batchOf = (rows: number, lines: number, tools: number, budget?: RowBudget) => ({
  kind: "settle" as const,
  calldata: encodeSettle({
    previous: NO_BATCH,
    batchId: NO_BATCH,
    toolIds: Array.from({ length: tools }, (_, i) => toolOf(i + 1)),
    rows: Array.from({ length: rows }, (_, i) => ({
      payer: accountOf(i + 1),
      modelCost: 1n,
      ...(budget && { budget }),
      lines: Array.from({ length: lines }, (_, toolIndex) => ({ toolIndex, amount: 1n })),
    })),
  }),
});

describe("the gas limit of a batch", () => {
  it("grows with its rows, lines and tools, and not with what they happen to cost now", () => {
    expect(gasLimitOf(batchOf(10, 0, 0), 200_000n).worst).toBe(200_000n + 250_000n + 50_000n);
    expect(gasLimitOf(batchOf(10, 3, 3), 200_000n).worst).toBe(200_000n + 250_000n + 30_000n + 135_000n + 50_000n);
  });

  it("grows with the budgets that its rows draw on, and with every tool that a line may be compared with", () => {
    const budget = { id: 7n };
    const base = 200_000n + 250_000n + 30_000n + 135_000n + 50_000n;
    expect(gasLimitOf(batchOf(10, 3, 3, budget), 200_000n).worst).toBe(base + 400_000n);
    const tools = [1, 2, 3, 4].map(toolOf);
    const hashed = 10n * 4n * 300n;
    const compared = 10n * 3n * 4n * 150n;
    expect(gasLimitOf(batchOf(10, 3, 3, { ...budget, tools }), 200_000n).worst).toBe(
      base + 700_000n + hashed + compared,
    );
  });

  it("is at the least what its rows take if they are charged, however little they take while it is simulated", () => {
    const budget = { id: 7n, tools: [1, 2].map(toolOf) };
    const signed = { maxSpend: 1n, validUntil: 1n, signature: "0x" as const };
    const rows = 10n * (25_000n + 3_000n);
    const tools = 3n * 12_000n;
    const listed = 10n * (30_000n + 2n * 300n + 3n * 2n * 150n);
    const least = (drawn?: RowBudget, judges = 0n) => gasLimitOf(batchOf(10, 3, 3, drawn), 50_000n, judges).least;
    expect(least()).toBe(100_000n + rows + tools);
    expect(least({ id: 7n })).toBe(100_000n + rows + tools + 70_000n);
    expect(least({ ...budget, signed })).toBe(100_000n + rows + tools + 360_000n + listed);
    expect(least({ ...budget, signed }, 1_100_000n)).toBe(100_000n + rows + tools + 360_000n + listed + 1_100_000n);
    // What it takes for another reason counts as well.
    expect(gasLimitOf(batchOf(10, 3, 3), 1_000_000n).least).toBe(1_250_000n);
  });

  it("is never below a fifth more than was simulated, as for anything else that is sent", () => {
    expect(gasLimitOf(batchOf(1, 0, 0), 10_000_000n).worst).toBe(12_050_000n);
    expect(gasLimitOf({ kind: "payout", calldata: "0x" }, 100_000n)).toEqual({ least: 170_000n, worst: 170_000n });
  });

  it("was too low if nearly all of it was used and the transaction reverted", () => {
    expect(ranOutOfGas({ gasLimit: 1_000_000n, gasUsed: 985_000n })).toBe(true);
    expect(ranOutOfGas({ gasLimit: 1_000_000n, gasUsed: 300_000n })).toBe(false);
    expect(ranOutOfGas({ gasLimit: 0n, gasUsed: 300_000n })).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { accountOf, toolOf } from "../../ledger/testing/fixtures.ts";
import { gasLimitOf, ranOutOfGas } from "./gasLimit.ts";

const batchOf = (rows: number, lines: number, tools: number) => ({
  kind: "settle" as const,
  calldata: encodeSettle({
    previous: NO_BATCH,
    batchId: NO_BATCH,
    toolIds: Array.from({ length: tools }, (_, i) => toolOf(i + 1)),
    rows: Array.from({ length: rows }, (_, i) => ({
      payer: accountOf(i + 1),
      modelCost: 1n,
      lines: Array.from({ length: lines }, (_, toolIndex) => ({ toolIndex, amount: 1n })),
    })),
  }),
});

describe("the gas limit of a batch", () => {
  it("grows with its rows, lines and tools, and not with what they happen to cost now", () => {
    expect(gasLimitOf(batchOf(10, 0, 0), 200_000n).worst).toBe(200_000n + 120_000n + 50_000n);
    expect(gasLimitOf(batchOf(10, 3, 3), 200_000n).worst).toBe(200_000n + 120_000n + 30_000n + 135_000n + 50_000n);
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

import { describe, expect, it } from "vitest";
import { findDoubles, type PaidLeaf } from "./findDoubles.ts";

describe("charges that were paid twice", () => {
  const paid = (chargeId: string, batchId: string, settledAt: bigint, operator = "0xA", leaf = batchId) =>
    ({ receipt: { chargeId }, leaf, row: { batchId, settledAt, block: 1, operator } }) as PaidLeaf;
  const pairs = (...payments: PaidLeaf[]) =>
    findDoubles(payments).map(({ chargeId, kept, doubled }) => [chargeId, kept.row.batchId, doubled.row.batchId]);

  it("are set against the first payment, whatever order they are found in", () => {
    expect(pairs(paid("c", "second", 2n), paid("d", "other", 1n), paid("c", "first", 1n))).toEqual([
      ["c", "first", "second"],
    ]);
    expect(pairs(paid("c", "3", 3n), paid("c", "1", 1n), paid("c", "2", 2n))).toEqual([
      ["c", "1", "2"],
      ["c", "1", "3"],
    ]);
  });

  it("are set against the first payment of the same operator, which alone the court hears", () => {
    expect(pairs(paid("c", "1", 1n, "0xA"), paid("c", "2", 2n, "0xB"), paid("c", "3", 3n, "0xB"))).toEqual([
      ["c", "1", "2"],
      ["c", "2", "3"],
    ]);
  });

  it("are found within one batch", () => {
    expect(pairs(paid("c", "1", 1n, "0xA", "y"), paid("c", "1", 1n, "0xA", "x"))).toEqual([["c", "1", "1"]]);
  });
});

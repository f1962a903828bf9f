import type { PaidRow } from "../../receipts/findRows.ts";
import type { Leaf } from "../../receipts/receipts.ts";

export type PaidLeaf = Leaf & { row: PaidRow };

// A charge that was paid more than once: the payment that counts, and one that does not.
export type Double = { chargeId: string; kept: PaidLeaf; doubled: PaidLeaf };

// Every charge of all batches that was paid more than once. Of the payments the first counts. The court holds an operator to its
// own receipts, so a later one is set against the first of the same operator, if there is one.
export function findDoubles(paid: readonly PaidLeaf[]): Double[] {
  const byCharge = Map.groupBy(paid, ({ receipt }) => receipt.chargeId);
  return [...byCharge].flatMap(([chargeId, payments]) => {
    const [first, ...others] = payments.toSorted(byTime);
    if (!first) return [];
    return others.map((doubled) => {
      const own = [first, ...others].find(({ row }) => row.operator === doubled.row.operator);
      return { chargeId, kept: own === undefined || own === doubled ? first : own, doubled };
    });
  });
}

// Within a block and within a batch any order will do, as long as it is always the same.
const byTime = (one: PaidLeaf, other: PaidLeaf) =>
  Number(one.row.settledAt - other.row.settledAt) ||
  one.row.block - other.row.block ||
  (one.row.batchId + one.leaf < other.row.batchId + other.leaf ? -1 : 1);

import type { PaidRow } from "../../receipts/findRows.ts";
import type { Leaf } from "../../receipts/receipts.ts";

export type PaidLeaf = Leaf & { row: PaidRow };

// A charge that was paid more than once: the payment that counts, and one that does not. `others` are payments that it could be set
// against as well, should the court not hear the first.
export type Double = { chargeId: string; kept: PaidLeaf; doubled: PaidLeaf; others: readonly PaidLeaf[] };

// Every charge of all batches that was paid more than once. Of the payments the first counts. The court holds an operator to its
// own receipts, so a later one is set against the first of the same operator, if there is one.
export function findDoubles(paid: readonly PaidLeaf[]): Double[] {
  const byCharge = Map.groupBy(paid, ({ receipt }) => receipt.chargeId);
  return [...byCharge].flatMap(([chargeId, payments]) => {
    const [first, ...others] = payments.toSorted(byTime);
    if (!first) return [];
    const byOperator = Map.groupBy([first, ...others], ({ row }) => row.operator);
    return others.map((doubled) => {
      const ofOperator = byOperator.get(doubled.row.operator) ?? [];
      const [own] = ofOperator;
      const kept = own === undefined || own === doubled ? first : own;
      return { chargeId, kept, doubled, others: ofOperator };
    });
  });
}

// Within a block and within a batch any order will do, as long as it is always the same.
const byTime = (one: PaidLeaf, other: PaidLeaf) =>
  Number(one.row.settledAt - other.row.settledAt) ||
  one.row.block - other.row.block ||
  (one.row.batchId + one.leaf < other.row.batchId + other.leaf ? -1 : 1);

import type { Double, PaidLeaf } from "./findDoubles.ts";

export type DoubleState = "provable" | "given back" | "too late" | "not provable" | "too small" | "two operators";

// A charge that was paid more than once. `state` is what the court would say to a proof.
export type SeenDouble = Double & { state: DoubleState };

// Whoever forges receipts can forge any number of them; what is asked of a node for one row has a bound.
const MAX_PER_ROW = 100;
const MAX_AGAINST = 8;

// Asks the court about doubles, of each row the largest first. A row gives back no more than it took, so once that is reached the
// rest of its doubles are worth nothing.
export async function examineDoubles(
  doubles: readonly Double[],
  least: bigint,
  stateOf: (double: Double) => Promise<DoubleState>,
): Promise<SeenDouble[]> {
  const seen: SeenDouble[] = [];
  for (const ofRow of Map.groupBy(doubles, ({ doubled }) => doubled.row.batchId).values()) {
    const [decided = [], undecided = []] = [true, false].map((isOwn) =>
      ofRow
        .filter(({ kept, doubled }) => (kept.row.operator === doubled.row.operator) === isOwn)
        .toSorted((one, other) => Number(other.doubled.receipt.amount - one.doubled.receipt.amount))
        .slice(0, MAX_PER_ROW),
    );
    let left = ofRow[0]?.doubled.row.charged ?? 0n;
    for (const double of decided) {
      if (left <= 0n) break;
      const { amount } = double.doubled.receipt;
      const examined = amount < least ? { ...double, state: "too small" as const } : await examine(double, stateOf);
      seen.push(examined);
      if (examined.state === "provable" || examined.state === "given back") left -= amount;
    }
    seen.push(...undecided.map((double) => ({ ...double, state: "two operators" as const })));
  }
  return seen;
}

// Of two payments either may be proven to be the second. Whoever proves that of the one that counts, which the operator can do
// itself, makes it useless for every other proof; another payment then takes its place.
async function examine(double: Double, stateOf: (double: Double) => Promise<DoubleState>): Promise<SeenDouble> {
  const state = await stateOf(double);
  if (state !== "given back") return { ...double, state };
  for (const kept of double.others.filter((other) => canCountBefore(other, double)).slice(0, MAX_AGAINST)) {
    const other = { ...double, kept };
    if ((await stateOf(other)) === "provable") return { ...other, state: "provable" };
  }
  return { ...double, state };
}

const canCountBefore = (other: PaidLeaf, { kept, doubled }: Double) =>
  other !== kept && other !== doubled && other.row.settledAt <= doubled.row.settledAt;

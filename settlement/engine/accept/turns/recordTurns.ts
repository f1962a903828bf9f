import type { Turn } from "../../../domain/charges/turn.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { Admission } from "../admission.ts";
import type { Prices } from "../prices.ts";
import type { RecordContext, RecordedTurn } from "./recordTurn.ts";

// Records many turns in one commit, under the same rules as one by one. Null for those that need more than that, and of which nothing was
// recorded: what draws on a budget, asks too much, is above its payer's credit, or cannot be read. They are recorded one by one, so that
// each has its own answer.
export async function recordTurns(
  { ledger, clock, policy: { credit } }: RecordContext,
  admission: Admission,
  prices: Prices,
  turns: readonly Turn[],
): Promise<(RecordedTurn | null)[]> {
  const plain = new Map<number, Turn>();
  for (const [i, turn] of turns.entries()) {
    const isPlain =
      turn.budgetId == null && (turn.outcome === "failed" || (await prices.refuse(turn.tools, "take")) === null);
    if (isPlain) plain.set(i, turn);
  }
  const recorded: (RecordedTurn | null)[] = turns.map(() => null);
  if (plain.size === 0) return recorded;
  const charges = [...plain.values()].reduce((sum, { tools }) => sum + tools.length + 1, 0);
  const reports = [...plain.values()].map((turn) => ({ turn, terms: { credit, prepaid: null } }));
  try {
    const outcomes = await admission.write(charges, () => ledger.recordTurns(reports, clock.nowMs()));
    for (const [place, i] of [...plain.keys()].entries()) {
      const outcome = outcomes[place];
      const isAnswer = outcome !== undefined && outcome.kind !== "credit_exceeded" && outcome.kind !== "budget_refused";
      if (isAnswer) recorded[i] = outcome;
    }
  } catch (error) {
    // One of them is wrong, and none was recorded.
    if (!(error instanceof SettlementError && error.code === "invalid_input")) throw error;
  }
  return recorded;
}

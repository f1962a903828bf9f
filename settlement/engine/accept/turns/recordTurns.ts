import type { Turn } from "../../../domain/charges/turn.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { TurnOutcome } from "../../../ledger/ledger.ts";
import type { Admission } from "../admission.ts";
import type { BroughtBudget, BudgetNotKept } from "../budgets/bringBudget.ts";
import type { Prices } from "../prices.ts";
import { mostCharges, type RecordedTurn, type TermsContext } from "./recordTurn.ts";

export type ReportedTurn = { turn: Turn; brought: BroughtBudget | null };

export type RecordedOfMany = RecordedTurn | BudgetNotKept | { kind: "invalid"; reason: string };

// Records many turns under the same rules as one by one, and as many of them as it goes in one commit. By themselves, so that each has its
// own answer: what draws on a budget, asks too much, is above its payer's credit, or stands beside one that cannot be read. What is wrong
// with the service is wrong with all of them: whoever reports them does so again.
export async function recordTurns(
  context: TermsContext,
  admission: Admission,
  prices: Prices,
  recordOne: (reported: ReportedTurn) => Promise<RecordedTurn | BudgetNotKept>,
  reported: readonly ReportedTurn[],
): Promise<RecordedOfMany[]> {
  const together = await recordTogether(context, admission, prices, reported);
  const record = async (one: ReportedTurn): Promise<RecordedOfMany> => {
    try {
      return await recordOne(one);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      return { kind: "invalid", reason: error.message };
    }
  };
  const beside = await Promise.all(
    reported.map((one) => together.get(one) ?? record(one).catch((error) => whenOverloaded(error))),
  );
  // Those that were recorded before have given their room back by now: else a list that came again would have none, however often.
  const answers: RecordedOfMany[] = [];
  for (const [i, one] of reported.entries()) answers.push(beside[i] ?? (await record(one)));
  return answers;
}

function whenOverloaded(error: unknown): null {
  if (error instanceof SettlementError && error.code === "overloaded") return null;
  throw error;
}

// Those that one commit has an answer to. Nothing was recorded of the others.
async function recordTogether(
  { ledger, clock, policy: { credit } }: TermsContext,
  admission: Admission,
  prices: Prices,
  reported: readonly ReportedTurn[],
): Promise<ReadonlyMap<ReportedTurn, RecordedTurn>> {
  const plain: ReportedTurn[] = [];
  for (const one of reported) {
    const { turn, brought } = one;
    const draws = brought !== null || turn.budgetId != null;
    if (!draws && (turn.outcome === "failed" || (await prices.refuse(turn.tools, "take")) === null)) plain.push(one);
  }
  const answers = new Map<ReportedTurn, RecordedTurn>();
  if (plain.length === 0) return answers;
  const charges = plain.reduce((sum, { turn }) => sum + mostCharges(turn), 0);
  const unused = (outcomes: readonly TurnOutcome[]) =>
    plain.reduce((sum, { turn }, i) => (outcomes[i]?.kind === "recorded" ? sum : sum + mostCharges(turn)), 0);
  const reports = plain.map(({ turn }) => ({ turn, terms: { credit, prepaid: null } }));
  try {
    const outcomes = await admission.write(charges, () => ledger.recordTurns(reports, clock.nowMs()), unused);
    for (const [i, one] of plain.entries()) {
      const outcome = outcomes[i];
      const isAnswer = outcome !== undefined && outcome.kind !== "credit_exceeded" && outcome.kind !== "budget_refused";
      if (isAnswer) answers.set(one, outcome);
    }
  } catch (error) {
    // One of them is wrong, and none was recorded.
    if (!isInvalid(error)) throw error;
  }
  return answers;
}

const isInvalid = (error: unknown): error is SettlementError =>
  error instanceof SettlementError && error.code === "invalid_input";

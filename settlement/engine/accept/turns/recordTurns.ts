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
  const undrawn = reported.filter(({ turn, brought }) => brought === null && turn.budgetId == null);
  const plain = await withoutDear(prices, undrawn);
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

// Those that ask no more for any tool than it may cost. All are asked about in one go: whoever is asked may be away, and turn by turn all
// that was delivered would wait for that.
async function withoutDear(prices: Prices, reported: readonly ReportedTurn[]): Promise<ReportedTurn[]> {
  const costsOf = ({ turn }: ReportedTurn) => (turn.outcome === "delivered" ? turn.tools : []);
  const tooHigh = await prices.refuse(reported.flatMap(costsOf), "take");
  const mostOf = new Map(tooHigh?.listed.map(({ toolId, most }) => [toolId, most]));
  return reported.filter((one) => costsOf(one).every(({ toolId, amount }) => amount <= (mostOf.get(toolId) ?? amount)));
}

const isInvalid = (error: unknown): error is SettlementError =>
  error instanceof SettlementError && error.code === "invalid_input";

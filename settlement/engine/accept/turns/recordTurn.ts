import type { ReadSpendable } from "../../../chain/readSpendable.ts";
import type { Turn } from "../../../domain/charges/turn.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { BudgetOnChain } from "../../../domain/payer/budget.ts";
import type { TurnOutcome } from "../../../ledger/ledger.ts";
import type { EngineContext } from "../../context.ts";
import type { Admission } from "../admission.ts";
import { type BudgetRefusal, reasonOf } from "../budgets/budgetRefusal.ts";
import type { Unsettled } from "../preflight/createUnsettled.ts";
import { settleAtOnce } from "../preflight/settleAtOnce.ts";
import { whileOutdated } from "../preflight/whileOutdated.ts";
import type { PriceRefusal, Prices } from "../prices.ts";

export type TermsContext = Pick<EngineContext, "ledger" | "clock"> & {
  policy: Pick<EngineContext["policy"], "credit">;
};

type RecordContext = TermsContext & { unsettled: Unsettled };

export type RecordedTurn =
  | Exclude<TurnOutcome, { kind: "budget_refused" }>
  | ({ kind: "refused" } & (BudgetRefusal | { code: "consent_required"; reason: string }))
  | ({ kind: "price_exceeded" } & PriceRefusal);

// Records a turn that was delivered, unless it would be more than its payer has credit for. Whoever reports it has asked before it ran,
// and reports it again until there is room. The chain is asked about prepaid money only if the credit alone is too small.
//
// Nothing is recorded, either, of a turn that asks more for a tool than it is listed for. A price may have been lowered while the question
// ran, and then its owner must not have the answer, the others' tools and the model for nothing: whoever reports it is told what it may
// ask, and asks no more than that the next time.
//
// On a budget all of its charges are recorded if it covers them all, and none otherwise: whoever reports it again under a raised
// budget finds nothing of it.
export async function recordTurn(
  { ledger, clock, policy: { credit }, unsettled }: RecordContext,
  readSpendable: ReadSpendable,
  admission: Admission,
  prices: Prices,
  turn: Turn,
): Promise<RecordedTurn> {
  // It was delivered, so that it does not wait for a chain that is away. One that was recorded before is found again, whatever its tools
  // cost by now.
  const tooHigh = turn.outcome === "delivered" ? await prices.refuse(turn.tools, "take") : null;
  if (tooHigh !== null && (await ledger.listChargesOf({ turnId: turn.id })).length === 0) {
    return {
      kind: "price_exceeded",
      ...tooHigh,
      reason: `${tooHigh.reason}; report the turn again with no more than that`,
    };
  }
  const onChain = await budgetOf(readSpendable, turn);
  const charges = mostCharges(turn);
  const unused = ({ kind }: TurnOutcome) => (kind === "recorded" ? 0 : charges);
  const write = async () => {
    let answer = await ledger.recordTurn(turn, clock.nowMs(), { credit, prepaid: null }, onChain);
    if (answer.kind !== "credit_exceeded") return answer;
    await whileOutdated(async () => {
      if (answer.kind !== "credit_exceeded") return { answer };
      const prepaid = await prepaidOf({ readSpendable, unsettled }, turn, answer.takenAtBlock);
      if (prepaid === null || prepaid.amount === 0n) return { answer };
      answer = await ledger.recordTurn(turn, clock.nowMs(), { credit, prepaid }, onChain);
      // What was said of the prepaid money was good, and it does not cover this; or else it was taken meanwhile.
      if (answer.kind !== "credit_exceeded" || prepaid.atBlock >= answer.takenAtBlock) return { answer };
      return { outdatedSince: answer.takenAtBlock };
    });
    if (answer.kind === "credit_exceeded") await settleAtOnce({ ledger, clock }, turn.payer);
    return answer;
  };
  const recorded = await admission.write(charges, write, unused);
  return recorded.kind === "budget_refused" ? explain(recorded.reason, { ledger, clock }, turn, onChain) : recorded;
}

// One for each tool and one for the model.
export const mostCharges = ({ tools }: Turn) => tools.length + 1;

async function budgetOf(readSpendable: ReadSpendable, { payer, budgetId = null }: Turn): Promise<BudgetOnChain | null> {
  if (budgetId === null) return null;
  return (await readSpendable(payer, 0n, budgetId)).budgets.get(budgetId) ?? null;
}

async function explain(
  code: Extract<TurnOutcome, { kind: "budget_refused" }>["reason"],
  { ledger, clock }: Pick<RecordContext, "ledger" | "clock">,
  { payer, budgetId = null }: Turn,
  onChain: BudgetOnChain | null,
): Promise<RecordedTurn> {
  const known = budgetId === null ? null : await ledger.findBudget({ payer, id: budgetId });
  if (code === "budget_unknown" || known === null || onChain === null) {
    const reason = `there is no budget ${budgetId} of the payer's: send it with its signature`;
    return { kind: "refused", code: "consent_required", reason };
  }
  const draft = { amount: 0n, toolIds: [], settledBy: BigInt(Math.ceil(clock.nowMs() / 1_000)) };
  return { kind: "refused", code, reason: reasonOf(code, known, onChain, draft) };
}

// Null if the chain does not answer: then nothing is known of prepaid money. While nothing can be settled it covers nothing.
async function prepaidOf(
  { readSpendable, unsettled }: { readSpendable: ReadSpendable; unsettled: Unsettled },
  { payer }: Turn,
  notBefore: bigint,
) {
  try {
    const { prepaid, atBlock } = await readSpendable(payer, notBefore);
    return prepaid > 0n && (await unsettled()) !== null ? null : { amount: prepaid, atBlock };
  } catch (error) {
    if (error instanceof SettlementError && error.retryable) return null;
    throw error;
  }
}

import type { Address } from "viem";
import type { TurnHold } from "../../../domain/charges/turn.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { MicroUsdc } from "../../../domain/money.ts";
import type { Admission } from "../admission.ts";
import type { HoldContext } from "../calls/hold.ts";
import { creditReason, type DraftOn, type Preflight, type Refusal } from "../preflight/preflight.ts";
import { settleAtOnce } from "../preflight/settleAtOnce.ts";
import { settledBy } from "../preflight/settledBy.ts";

// How often the chain is asked again because what it said was outdated, or taken by another call, by the time it was used.
const MAX_TRIES = 5;

export type HeldTurn = { kind: "held" | "duplicate" | "conflict" } | { kind: "refused"; preflight: Refusal };

// Reserves what a question may cost at the most, if its payer can pay that beside all that it owes and runs. What is bought meanwhile
// finds it gone, so that the turn that is recorded in the end is never more than there is. One that was held before is the same,
// whatever its payer can spend by now, and its time begins again.
export async function holdTurn(
  { ledger, clock, policy }: HoldContext,
  check: (payer: Address, amount: MicroUsdc, notBefore?: bigint, draft?: DraftOn | null) => Promise<Preflight>,
  admission: Admission,
  held: TurnHold,
): Promise<HeldTurn> {
  const { turnId, payer, amount, budgetId } = held;
  let notBefore = 0n;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isKnown = (await ledger.findTurnHold(turnId)) !== null;
    const draft = budgetId === null ? null : { budgetId, amount, toolIds: [], settledBy: settledBy(clock, policy) };
    const preflight = isKnown ? null : await check(payer, amount, notBefore, draft);
    if (preflight !== null && preflight.code !== "ok") {
      if (preflight.code === "credit_exceeded") await settleAtOnce({ ledger, clock }, payer);
      return { kind: "refused", preflight };
    }
    const write = () => ledger.holdTurn(held, preflight?.spendable ?? null, clock.nowMs(), policy.credit);
    const answer = await (isKnown ? write() : admission.write(1, write));
    if (answer.kind === "outdated") notBefore = answer.takenAtBlock;
    else if (answer.kind === "credit_exceeded" && preflight !== null) {
      // What else the payer runs has used its credit since it was looked at.
      await settleAtOnce({ ledger, clock }, payer);
      const refusal = { code: answer.kind, funds: preflight.funds, reason: creditReason(answer) } as const;
      return { kind: "refused", preflight: refusal };
    } else if (answer.kind !== "unaffordable" && answer.kind !== "credit_exceeded") return { kind: answer.kind };
  }
  throw new SettlementError("chain_unavailable", "what the payer can spend changes too quickly to be known", {
    retryable: true,
  });
}

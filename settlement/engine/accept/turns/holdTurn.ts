import type { Address } from "viem";
import type { TurnHold } from "../../../domain/charges/turn.ts";
import type { MicroUsdc } from "../../../domain/money.ts";
import type { ReadFunds } from "../../../domain/payer/payer.ts";
import type { Admission } from "../admission.ts";
import type { HoldContext } from "../calls/hold.ts";
import type { DraftOn, Preflight, Refusal } from "../preflight/preflight.ts";
import { reserve } from "../preflight/reserve.ts";
import { settledBy } from "../preflight/settledBy.ts";

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
  const write = (funds: ReadFunds | null) => ledger.holdTurn(held, funds, clock.nowMs(), policy.credit);
  return reserve<HeldTurn>({ ledger, clock }, admission, async () => {
    const isKnown = (await ledger.findTurnHold(turnId)) !== null;
    if (isKnown) return { asks: null, write };
    const draft = budgetId === null ? null : { budgetId, amount, toolIds: [], settledBy: settledBy(clock, policy) };
    return {
      asks: {
        payer,
        check: (notBefore) => check(payer, amount, notBefore, draft),
        refuse: (preflight) => ({ kind: "refused", preflight }),
      },
      write,
    };
  });
}

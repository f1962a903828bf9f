import type { Address } from "viem";
import type { Call, Session } from "../../../domain/charges/session.ts";
import type { MicroUsdc } from "../../../domain/money.ts";
import type { ReadFunds } from "../../../domain/payer/payer.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { EngineContext } from "../../context.ts";
import type { Admission } from "../admission.ts";
import type { DraftOn, Preflight, Refusal } from "../preflight/preflight.ts";
import { type Final, reserve } from "../preflight/reserve.ts";
import { settledBy } from "../preflight/settledBy.ts";
import type { Prices } from "../prices.ts";

export type HoldContext = Pick<EngineContext, "ledger" | "clock"> & {
  policy: Pick<EngineContext["policy"], "credit" | "budgetMarginMs">;
};

type HeldCall =
  | Final<Awaited<ReturnType<Ledger["hold"]>>>
  | { kind: "session_not_found" }
  | { kind: "price_exceeded"; reason: string }
  | { kind: "refused"; preflight: Refusal; session: Session };

// Reserves a call's price in its session if the payer can pay it. A call that was held before is the same call, whatever
// its payer can spend by now: its tool may have run already.
export async function hold(
  { ledger, clock, policy }: HoldContext,
  check: (payer: Address | null, amount: MicroUsdc, notBefore?: bigint, draft?: DraftOn | null) => Promise<Preflight>,
  admission: Admission,
  prices: Prices,
  call: Call,
): Promise<HeldCall> {
  const write = (funds: ReadFunds | null) => ledger.hold(call, funds, clock.nowMs(), policy.credit);
  return reserve<HeldCall>({ ledger, clock }, admission, async () => {
    const isKnown = (await ledger.findHold(call.callId)) !== null;
    if (isKnown) return { asks: null, write };
    const session = await ledger.findSession(call.sessionId);
    if (session === null) return { answer: { kind: "session_not_found" } };
    const tooHigh = await prices.refuse([call], "throw");
    if (tooHigh !== null) return { answer: { kind: "price_exceeded", reason: tooHigh.reason } };
    const { payer } = session;
    const budgetId = call.budgetId ?? session.budgetId;
    const { amount, toolId } = call;
    const draft =
      budgetId === null ? null : { budgetId, amount, toolIds: [toolId], settledBy: settledBy(clock, policy) };
    return {
      asks: {
        payer,
        check: (notBefore) => check(payer, amount, notBefore, draft),
        refuse: (preflight) => ({ kind: "refused", preflight, session }),
      },
      write,
    };
  });
}

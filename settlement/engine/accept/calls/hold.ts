import type { Address } from "viem";
import type { Call } from "../../../domain/charges/session.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { MicroUsdc } from "../../../domain/money.ts";
import type { EngineContext } from "../../context.ts";
import type { Admission } from "../admission.ts";
import { creditReason, type DraftOn, type Preflight } from "../preflight/preflight.ts";
import { settleAtOnce } from "../preflight/settleAtOnce.ts";
import { settledBy } from "../preflight/settledBy.ts";
import type { Prices } from "../prices.ts";

// How often the chain is asked again because what it said was outdated, or taken by another call, by the time it was used.
const MAX_TRIES = 5;

export type HoldContext = Pick<EngineContext, "ledger" | "clock"> & {
  policy: Pick<EngineContext["policy"], "credit" | "budgetMarginMs">;
};

// Reserves a call's price in its session if the payer can pay it. A call that was held before is the same call, whatever
// its payer can spend by now: its tool may have run already.
export async function hold(
  { ledger, clock, policy }: HoldContext,
  check: (payer: Address | null, amount: MicroUsdc, notBefore?: bigint, draft?: DraftOn | null) => Promise<Preflight>,
  admission: Admission,
  prices: Prices,
  call: Call,
) {
  let notBefore = 0n;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isKnown = (await ledger.findHold(call.callId)) !== null;
    const session = await ledger.findSession(call.sessionId);
    if (!isKnown && session === null) return { kind: "session_not_found" as const };
    const tooHigh = isKnown ? null : await prices.refuse([call], "throw");
    if (tooHigh !== null) return { kind: "price_exceeded" as const, reason: tooHigh };
    const budgetId = call.budgetId ?? session?.budgetId ?? null;
    const draft =
      budgetId === null
        ? null
        : { budgetId, amount: call.amount, toolIds: [call.toolId], settledBy: settledBy(clock, policy) };
    const preflight = isKnown || session === null ? null : await check(session.payer, call.amount, notBefore, draft);
    if (preflight !== null && preflight.code !== "ok" && session !== null) {
      if (preflight.code === "credit_exceeded") await settleAtOnce({ ledger, clock }, session.payer);
      return { kind: "refused" as const, preflight, session };
    }
    const funds = preflight?.code === "ok" ? preflight.spendable : null;
    const write = () => ledger.hold(call, funds, clock.nowMs(), policy.credit);
    const held = await (isKnown ? write() : admission.write(1, write));
    if (held.kind === "outdated") notBefore = held.takenAtBlock;
    else if (held.kind === "credit_exceeded" && preflight?.code === "ok") {
      // Other calls of the payer have used its credit since it was looked at.
      await settleAtOnce({ ledger, clock }, held.session.payer);
      const refusal = { code: held.kind, funds: preflight.funds, reason: creditReason(held) } as const;
      return { kind: "refused" as const, preflight: refusal, session: held.session };
    } else if (held.kind !== "unaffordable" && held.kind !== "credit_exceeded") return held;
  }
  throw new SettlementError("chain_unavailable", "what the payer can spend changes too quickly to be known", {
    retryable: true,
  });
}

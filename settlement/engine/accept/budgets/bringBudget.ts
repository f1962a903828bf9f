import type { Call, Session } from "../../../domain/charges/session.ts";
import type { SignedBudget } from "../../../domain/payer/budget.ts";
import type { EngineContext } from "../../context.ts";
import { type KeptBudget, keepBudget } from "./keepBudget.ts";

// What a payer has signed, sent with a call: whose it is, the session says.
export type BroughtBudget = Omit<SignedBudget, "payer">;

export type Brought =
  | { kind: "brought"; call: Call }
  | { kind: "session_not_found" }
  | { kind: "budget_refused"; refusal: Extract<KeptBudget, { kind: "refused" }>; session: Session };

// The newest signature travels with the call that needs it. A call that was held before needs none any more.
export async function bringBudget(
  context: Pick<EngineContext, "ledger" | "chain" | "clock">,
  call: Call,
  brought: BroughtBudget,
): Promise<Brought> {
  const { ledger } = context;
  if ((await ledger.findHold(call.callId)) !== null) return { kind: "brought", call };
  const session = await ledger.findSession(call.sessionId);
  if (session === null) return { kind: "session_not_found" };
  const kept = await keepBudget(context, { ...brought, payer: session.payer });
  if (kept.kind === "refused") return { kind: "budget_refused", refusal: kept, session };
  return { kind: "brought", call: { ...call, budgetId: kept.budget.id } };
}

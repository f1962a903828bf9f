import type { Call, Session } from "../../../domain/charges/session.ts";
import type { EngineContext } from "../../context.ts";
import { type BroughtBudget, type BudgetNotKept, bringBudget } from "./bringBudget.ts";

export type BroughtToCall =
  | { kind: "brought"; call: Call }
  | { kind: "session_not_found" }
  | (BudgetNotKept & { session: Session });

// A call draws on what comes with it, which is its session's payer's. A call that was held before needs none any more.
export async function bringToCall(
  context: Pick<EngineContext, "ledger" | "chain" | "clock">,
  call: Call,
  brought: BroughtBudget | null,
): Promise<BroughtToCall> {
  const { ledger } = context;
  if (brought === null || (await ledger.findHold(call.callId)) !== null) return { kind: "brought", call };
  const session = await ledger.findSession(call.sessionId);
  if (session === null) return { kind: "session_not_found" };
  const found = await bringBudget(context, session.payer, brought);
  if (found.kind === "budget_refused") return { ...found, session };
  return { kind: "brought", call: { ...call, budgetId: found.budgetId } };
}

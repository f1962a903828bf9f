import type { Address } from "viem";
import type { MicroUsdc } from "../../domain/money.ts";
import type { BroughtBudget } from "../../engine/accept/budgets/bringBudget.ts";
import type { Refusal } from "../../engine/accept/preflight/preflight.ts";
import { type SessionView, sessionView } from "../../views/session.ts";
import { ApiError } from "../http/errors.ts";
import type { Services } from "../http/route.ts";
import { notKept } from "./budget.ts";

export const NO_WALLET = "there is no wallet to be charged";

// Opens a session, or finds the one that the same request opened before.
export async function startSession(
  services: Services,
  {
    id,
    payer,
    maxSpend,
    ttlMs,
    brought,
  }: { id: string; payer: Address; maxSpend: MicroUsdc; ttlMs: number; brought: BroughtBudget | null },
): Promise<SessionView> {
  const { engine, clock, helpUrl } = services;
  const started = await engine.startSession(id, payer, maxSpend, ttlMs, brought);
  if (started.kind === "conflict") throw new ApiError("conflict", `there is another session ${id}`);
  if (started.kind === "too_many_sessions") {
    throw new ApiError(
      "too_many_sessions",
      `${started.open} sessions of this payer are open; close some, or wait until they expire`,
    );
  }
  if (started.kind === "budget_refused") throw notKept(started.refusal, helpUrl);
  if (started.kind === "refused") throw refusalOf(started.preflight, helpUrl);
  return sessionView(started.session, clock.nowMs());
}

export function refusalOf(preflight: Refusal, helpUrl: string | null, session?: SessionView): ApiError {
  const details = session === undefined ? {} : { session };
  switch (preflight.code) {
    case "insufficient_allowance":
    case "credit_exceeded":
    case "consent_required":
    case "budget_exceeded":
    case "budget_expired":
    case "budget_tools":
      return new ApiError(preflight.code, preflight.reason, { ...details, helpUrl });
    case "payment_failed":
      return new ApiError(preflight.code, preflight.reason, details);
    case "no_wallet":
      return new ApiError(preflight.code, NO_WALLET, { ...details, helpUrl });
  }
}

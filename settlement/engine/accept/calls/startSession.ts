import type { Address } from "viem";
import type { MicroUsdc } from "../../../domain/money.ts";
import type { EngineContext } from "../../context.ts";
import type { DraftOn, Preflight, Refusal } from "../preflight/preflight.ts";
import { settledBy } from "../preflight/settledBy.ts";

export type NewSession = {
  id: string;
  payer: Address | null;
  maxSpend: MicroUsdc;
  ttlMs: number;
  // What its calls draw on, if anything.
  budgetId: bigint | null;
};

// Opens a session for a payer who can pay all that it may spend. Its budget need not cover that yet: whoever signs for every call
// raises it with each. A request that comes again finds the session that it opened
// before: what the payer can spend by now says nothing about that one.
export async function startSession(
  { ledger, clock, policy }: Pick<EngineContext, "ledger" | "clock" | "policy">,
  check: (payer: Address, amount: MicroUsdc, draft: DraftOn | null) => Promise<Preflight>,
  { id, payer, maxSpend, ttlMs, budgetId }: NewSession,
) {
  if (payer === null) return refused({ code: "no_wallet" });
  if ((await ledger.findSession(id)) === null) {
    const draft = budgetId === null ? null : { budgetId, amount: 0n, toolIds: [], settledBy: settledBy(clock, policy) };
    const preflight = await check(payer, maxSpend, draft);
    if (preflight.code !== "ok") return refused(preflight);
    // A bound on what is kept, not on money: of two that come at once both may be the last.
    const open = await ledger.countOpenSessions(payer, clock.nowMs(), policy.maxOpenSessions);
    if (open >= policy.maxOpenSessions) return { kind: "too_many_sessions" as const, open };
  }
  const nowMs = clock.nowMs();
  return ledger.openSession({ id, payer, maxSpend, budgetId, expiresAtMs: nowMs + ttlMs }, nowMs);
}

const refused = (preflight: Refusal) => ({ kind: "refused" as const, preflight });

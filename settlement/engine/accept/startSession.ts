import type { Address } from "viem";
import type { MicroUsdc } from "../../domain/money.ts";
import type { EngineContext } from "../context.ts";
import type { Preflight, Refusal } from "./preflight.ts";

export type NewSession = { id: string; payer: Address | null; maxSpend: MicroUsdc; ttlMs: number };

// Opens a session for a payer who can pay its whole budget. A request that comes again finds the session that it opened
// before: what the payer can spend by now says nothing about that one.
export async function startSession(
  { ledger, clock }: Pick<EngineContext, "ledger" | "clock">,
  check: (payer: Address, amount: MicroUsdc) => Promise<Preflight>,
  { id, payer, maxSpend, ttlMs }: NewSession,
) {
  if (payer === null) return refused({ code: "no_wallet" });
  if ((await ledger.findSession(id)) === null) {
    const preflight = await check(payer, maxSpend);
    if (preflight.code !== "ok") return refused(preflight);
  }
  const nowMs = clock.nowMs();
  return ledger.openSession({ id, payer, maxSpend, expiresAtMs: nowMs + ttlMs }, nowMs);
}

const refused = (preflight: Refusal) => ({ kind: "refused" as const, preflight });

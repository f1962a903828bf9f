import type { Address } from "viem";
import type { MicroUsdc } from "../domain/money.ts";
import type { Preflight } from "../engine/preflight.ts";
import { ApiError } from "./errors.ts";
import type { Services } from "./route.ts";
import { type SessionView, sessionView } from "./views.ts";

// Opens a session, or finds the one that the same request opened before.
export async function startSession(
  services: Services,
  { id, payer, maxSpend, ttlMs }: { id: string; payer: Address; maxSpend: MicroUsdc; ttlMs: number },
): Promise<SessionView> {
  const { engine, ledger, clock, helpUrl } = services;
  // What the payer can spend by now says nothing about a session that is open already.
  const known = await ledger.session(id);
  if (known !== null && known.payer === payer && known.maxSpend === maxSpend) return sessionView(known, clock.nowMs());
  const started = await engine.startSession(id, payer, maxSpend, ttlMs);
  if (started.kind === "conflict") throw new ApiError("conflict", `There is another session ${id}.`);
  if (started.kind === "refused") throw refusalOf(started.preflight, helpUrl);
  return sessionView(started.session, clock.nowMs());
}

export function refusalOf(preflight: Preflight, helpUrl: string | null, session?: SessionView): ApiError {
  const details = session === undefined ? {} : { session };
  switch (preflight.code) {
    case "insufficient_allowance":
      return new ApiError(preflight.code, sentenceOf(preflight.reason), { ...details, helpUrl });
    case "payment_failed":
      return new ApiError(preflight.code, sentenceOf(preflight.reason), details);
    case "no_wallet":
      return new ApiError(preflight.code, "There is no wallet to be charged.", details);
    case "ok":
      return new ApiError("internal", "Something went wrong here; it has been logged.", details);
  }
}

export const sentenceOf = (reason: string) => `${reason[0]?.toUpperCase()}${reason.slice(1)}.`;

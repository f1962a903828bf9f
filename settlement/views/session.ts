import { z } from "zod";
import { type Session, statusAt } from "../domain/charges/session.ts";
import { formatUsd, microUsdc } from "../domain/money.ts";
import { address, count, time, timeOf, usd } from "./shapes.ts";

// Exactly the protocol's fields. What running calls have reserved is not remaining, though it is not spent either.
export const sessionSchema = z
  .object({
    mode: z.literal("execute"),
    sessionId: z.string(),
    methodPrice: usd,
    spent: usd,
    remaining: usd,
    maxSpend: usd,
    status: z.enum(["open", "closed", "expired"]),
    expiresAt: time,
    closeRequested: z.boolean(),
    pendingAccruedCount: count,
    pendingAccruedUsd: usd,
  })
  .meta({ id: "Session" });

export type SessionView = z.infer<typeof sessionSchema>;

export function sessionView(session: Session, nowMs: number): SessionView {
  const { id, spent, held, maxSpend, expiresAtMs } = session;
  return {
    mode: "execute",
    sessionId: id,
    methodPrice: formatUsd(session.methodPrice ?? microUsdc(0n)),
    spent: formatUsd(spent),
    remaining: formatUsd(microUsdc(maxSpend - spent - held)),
    maxSpend: formatUsd(maxSpend),
    // The sweep that ends sessions comes a moment after their time.
    status: statusAt(session, nowMs),
    expiresAt: timeOf(expiresAtMs),
    closeRequested: session.closeRequested,
    pendingAccruedCount: session.pendingAccruedCount,
    pendingAccruedUsd: formatUsd(session.pendingAccrued),
  };
}

// A line of a list, which shows sessions of several payers.
export const sessionRowSchema = sessionSchema.extend({ payer: address, openedAt: time }).meta({ id: "SessionRow" });

export type SessionRow = z.infer<typeof sessionRowSchema>;

export function sessionRow(session: Session, nowMs: number): SessionRow {
  return { payer: session.payer, openedAt: timeOf(session.openedAtMs), ...sessionView(session, nowMs) };
}

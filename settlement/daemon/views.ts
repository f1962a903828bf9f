import type { ApiKey } from "../domain/apiKey.ts";
import type { BatchOutcome } from "../domain/batch.ts";
import type { Charge } from "../domain/charge.ts";
import { formatUsd, type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { Exposure } from "../domain/payer.ts";
import type { Hold, Session, SessionStatus } from "../domain/session.ts";
import type { Earning } from "../domain/statement.ts";
import { uuidFromToolId } from "../domain/toolId.ts";
import type { PreflightFigures } from "../engine/preflight.ts";
import type { SettledBatch, ToolEarnings } from "../ledger/ledger.ts";

// From the domain to JSON: money as decimal dollars, times in ISO 8601, tools as UUIDs.

export type SessionView = {
  mode: "execute";
  sessionId: string;
  methodPrice: string;
  spent: string;
  remaining: string;
  maxSpend: string;
  status: SessionStatus;
  expiresAt: string;
  closeRequested: boolean;
  pendingAccruedCount: number;
  pendingAccruedUsd: string;
};

// Exactly the protocol's fields. What running calls have reserved is not remaining, though it is not spent either.
export function sessionView(session: Session, nowMs: number): SessionView {
  const { id, spent, held, maxSpend, status, expiresAtMs } = session;
  return {
    mode: "execute",
    sessionId: id,
    methodPrice: formatUsd(session.methodPrice ?? microUsdc(0n)),
    spent: formatUsd(spent),
    remaining: formatUsd(microUsdc(maxSpend - spent - held)),
    maxSpend: formatUsd(maxSpend),
    // The sweep that ends sessions comes a moment after their time.
    status: status === "open" && expiresAtMs <= nowMs ? "expired" : status,
    expiresAt: timeOf(expiresAtMs),
    closeRequested: session.closeRequested,
    pendingAccruedCount: session.pendingAccruedCount,
    pendingAccruedUsd: formatUsd(session.pendingAccrued),
  };
}

// A line of a list, which shows sessions of several payers.
export function sessionRow(session: Session, nowMs: number) {
  return { payer: session.payer, openedAt: timeOf(session.openedAtMs), ...sessionView(session, nowMs) };
}

export function callView({ callId, sessionId, payer, toolId, method, amount, heldAtMs, state }: Hold) {
  return {
    callId,
    sessionId,
    payer,
    toolId: uuidFromToolId(toolId),
    method,
    priceUsd: formatUsd(amount),
    heldAt: timeOf(heldAtMs),
    state: state.kind,
    chargeId: state.kind === "captured" ? state.chargeId : null,
  };
}

export function chargeView(charge: Charge) {
  const { source, state } = charge;
  return {
    chargeId: charge.id,
    ...(source.kind === "turn" ? { turnId: source.turnId } : { sessionId: source.sessionId, callId: source.callId }),
    for: charge.for.kind,
    toolId: charge.for.kind === "tool" ? uuidFromToolId(charge.for.toolId) : null,
    calls: charge.for.kind === "tool" ? charge.for.calls : 0,
    payer: charge.payer,
    chargedTo: charge.chargedTo,
    amountUsd: formatUsd(charge.amount),
    accruedAt: timeOf(charge.accruedAtMs),
    attempts: charge.attempts,
    state: state.kind,
    batch: "root" in state ? state.root : null,
  };
}

export function batchView(batch: SettledBatch) {
  return {
    batch: batch.root,
    operator: batch.operator,
    state: batch.state,
    rows: batch.rows,
    charges: batch.charges,
    totalUsd: formatUsd(batch.total),
    txHash: batch.inclusion?.txHash ?? null,
    blockNumber: batch.inclusion?.blockNumber.toString() ?? null,
    gasUsed: batch.inclusion?.gasUsed?.toString() ?? null,
    createdAt: timeOf(batch.createdAtMs),
    finalAt: batch.finalAtMs === null ? null : timeOf(batch.finalAtMs),
    outcome: batch.outcome === null ? null : outcomeView(batch.outcome),
  };
}

function outcomeView({ charged, treasuryShare, failed, refused, paid }: BatchOutcome) {
  return {
    chargedUsd: formatUsd(charged),
    treasuryShareUsd: formatUsd(treasuryShare),
    failed: failed.map(({ chargedTo, amount, reason }) => ({ chargedTo, amountUsd: formatUsd(amount), reason })),
    refused: refused.map(({ chargedTo, toolId, amount }) => ({
      chargedTo,
      toolId: uuidFromToolId(toolId),
      amountUsd: formatUsd(amount),
    })),
    paid: paid.map(({ toolId, payee, amount, developerShare }) => ({
      toolId: uuidFromToolId(toolId),
      payee,
      amountUsd: formatUsd(amount),
      developerShareUsd: formatUsd(developerShare),
    })),
  };
}

export function exposureView({ payer, pending, held, debt }: Exposure) {
  return { payer, pendingUsd: formatUsd(pending), heldUsd: formatUsd(held), debtUsd: formatUsd(debt) };
}

export function figuresView(figures: PreflightFigures) {
  return {
    availableUsd: formatUsd(figures.available),
    balanceUsd: formatUsd(figures.balance),
    // Wallets allow "without limit" as the largest number there is, which is no amount of dollars.
    allowanceUsd: boundedUsd(figures.allowance),
    dailyCapLeftUsd: boundedUsd(figures.dailyCapLeft),
    pendingUsd: formatUsd(figures.pending),
    heldUsd: formatUsd(figures.held),
    debtUsd: formatUsd(figures.debt),
  };
}

export function earningView(earning: Earning) {
  return {
    settledAt: timeOf(earning.settledAtMs),
    batch: earning.root,
    txHash: earning.txHash,
    toolId: uuidFromToolId(earning.toolId),
    amountUsd: formatUsd(earning.amount),
    developerShareUsd: formatUsd(earning.developerShare),
  };
}

export function toolView({ toolId, batches, amount, developerShare }: ToolEarnings) {
  return {
    toolId: uuidFromToolId(toolId),
    batches,
    settledUsd: formatUsd(amount),
    developerShareUsd: formatUsd(developerShare),
  };
}

export function apiKeyView({ id, payer, label, createdAtMs, revokedAtMs }: ApiKey) {
  return {
    keyId: id,
    payer,
    label,
    createdAt: timeOf(createdAtMs),
    revokedAt: revokedAtMs === null ? null : timeOf(revokedAtMs),
  };
}

export const timeOf = (ms: number) => new Date(ms).toISOString();

const UNLIMITED = 2n ** 128n;
const boundedUsd = (amount: bigint) => (amount >= UNLIMITED ? null : formatUsd(amount as MicroUsdc));

import { z } from "zod";
import { CHARGE_FAILURES } from "../domain/batch/batch.ts";
import type { Charge } from "../domain/charges/charge.ts";
import { formatUsd } from "../domain/money.ts";
import { uuidFromToolId } from "../domain/toolId.ts";
import { address, count, hash, time, timeOf, toolId, usd } from "./shapes.ts";

const subject = z.enum(["tool", "model"]);
const state = z.enum(["accrued", "owed", "batched", "submitted", "included", "final", "absorbed", "refused", "voided"]);
export const failureReason = z.enum(CHARGE_FAILURES);

export const chargeSchema = z
  .object({
    chargeId: hash,
    turnId: z.string().optional(),
    sessionId: z.string().optional(),
    callId: z.string().optional(),
    for: subject,
    toolId: toolId.nullable(),
    calls: count,
    payer: address,
    chargedTo: address,
    amountUsd: usd,
    accruedAt: time,
    attempts: count,
    state,
    batchId: hash.nullable(),
  })
  .meta({ id: "Charge" });

export type ChargeView = z.infer<typeof chargeSchema>;

export function chargeView(charge: Charge): ChargeView {
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
    // Those of the payer.
    attempts: charge.attempts - charge.deferrals,
    state: state.kind,
    batchId: "batchId" in state ? state.batchId : null,
  };
}

// The same columns for turns and calls, so that a table has one shape.
export const statementLineSchema = z
  .object({
    accruedAt: time,
    chargeId: hash,
    turnId: z.string().nullable(),
    sessionId: z.string().nullable(),
    callId: z.string().nullable(),
    for: subject,
    toolId: toolId.nullable(),
    amountUsd: usd,
    state,
    batchId: hash.nullable(),
  })
  .meta({ id: "StatementLine" });

export function statementLine(charge: Charge): z.infer<typeof statementLineSchema> {
  const { source } = charge;
  const view = chargeView(charge);
  return {
    accruedAt: view.accruedAt,
    chargeId: view.chargeId,
    turnId: source.kind === "turn" ? source.turnId : null,
    sessionId: source.kind === "call" ? source.sessionId : null,
    callId: source.kind === "call" ? source.callId : null,
    for: view.for,
    toolId: view.toolId,
    amountUsd: view.amountUsd,
    state: view.state,
    batchId: view.batchId,
  };
}

export const chargeDetailSchema = z.object({
  charge: chargeSchema,
  failures: z.array(z.object({ reason: failureReason, at: time })),
});

export type ChargeDetail = z.infer<typeof chargeDetailSchema>;

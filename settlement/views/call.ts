import { z } from "zod";
import type { Hold } from "../domain/charges/session.ts";
import { formatUsd } from "../domain/money.ts";
import { uuidFromToolId } from "../domain/toolId.ts";
import { address, hash, time, timeOf, toolId as toolIdShape, usd } from "./shapes.ts";

export const callSchema = z
  .object({
    callId: z.string(),
    sessionId: z.string(),
    payer: address,
    toolId: toolIdShape,
    method: z.string(),
    priceUsd: usd,
    heldAt: time,
    state: z.enum(["held", "captured", "voided"]),
    chargeId: hash.nullable(),
  })
  .meta({ id: "Call" });

export type CallView = z.infer<typeof callSchema>;

export function callView({ callId, sessionId, payer, toolId, method, amount, heldAtMs, state }: Hold): CallView {
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

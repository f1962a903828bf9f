import { z } from "zod";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { chargeView } from "../../views.ts";

const MAX_TOOLS = 100;

const turn = z.strictObject({
  turnId: field.name,
  payer: field.address,
  outcome: z.enum(["delivered", "failed"], 'has to be "delivered" or "failed"'),
  modelCostUsd: field.usd,
  tools: z
    .array(z.strictObject({ toolId: field.toolId, amountUsd: field.usd, calls: field.calls }), "has to be a list")
    .max(MAX_TOOLS, `has more than ${MAX_TOOLS} entries`),
  requestHash: field.hashOrNone,
  responseHash: field.hashOrNone,
});

export const turnRoutes = [
  route({
    method: "POST",
    path: "/v1/turns",
    access: "platform",
    summary: "Record a Query turn that was delivered, or failed; the turn's id makes it happen once",
    body: turn,
    async handle({ body, services: { engine }, log }) {
      const { turnId, payer, outcome, modelCostUsd, tools, requestHash, responseHash } = body;
      const recorded = await engine.recordTurn({
        id: turnId,
        payer,
        outcome,
        modelCost: modelCostUsd,
        tools: tools.map(({ toolId, amountUsd, calls }) => ({ toolId, amount: amountUsd, calls })),
        requestHash,
        responseHash,
      });
      if (recorded.kind === "conflict") throw new ApiError("conflict", `There is another turn ${turnId}.`);
      const { chargeIds } = recorded;
      if (recorded.kind === "recorded") log.info({ event: "accrued", turn: turnId, charges: chargeIds }, "accrued");
      return { body: { turnId, chargeIds } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/turns/:turnId",
    access: "platform",
    summary: "The charges of a turn",
    params: z.object({ turnId: field.name }),
    async handle({ params: { turnId }, services: { ledger } }) {
      const charges = await ledger.chargesOf({ turnId });
      if (charges.length === 0) throw new ApiError("not_found", `Turn ${turnId} has no charges.`);
      return { body: { turnId, charges: charges.map(chargeView) } };
    },
  }),
];

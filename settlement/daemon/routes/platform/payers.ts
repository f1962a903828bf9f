import { z } from "zod";
import { formatUsd } from "../../../domain/money.ts";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { answerStatement, statementQuery } from "../../statement.ts";
import { chargeView, exposureView } from "../../views.ts";

const params = z.object({ payer: field.address });

export const payerRoutes = [
  route({
    method: "GET",
    path: "/v1/payers",
    access: "platform",
    summary: "Payers, those with debts first",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { payers: (await ledger.payersByExposure(limit, offset)).map(exposureView) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer",
    access: "platform",
    summary: "What a payer owes, has reserved and was lent",
    params,
    async handle({ params: { payer }, services: { ledger } }) {
      const [exposure] = await ledger.exposures([payer]);
      if (exposure === undefined) throw new ApiError("not_found", `There is no payer ${payer}.`);
      return { body: exposureView(exposure) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/payers/:payer/clear-debt",
    access: "platform",
    summary: "The payer made good what the platform had absorbed, and may go on",
    params,
    body: z.strictObject({}).optional(),
    async handle({ params: { payer }, services: { ledger }, log }) {
      const cleared = formatUsd(await ledger.clearDebt(payer));
      log.info({ event: "debt_cleared", payer, clearedUsd: cleared }, "debt cleared");
      return { body: { payer, clearedUsd: cleared } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer/statement",
    access: "platform",
    summary: "A payer's charges, oldest first, as JSON or CSV",
    params,
    query: statementQuery,
    async handle({ params: { payer }, query, services: { ledger } }) {
      const charges = await ledger.chargesOfPayer(payer, query);
      const places = charges.map(({ id, accruedAtMs }) => ({ atMs: accruedAtMs, id }));
      return answerStatement({ payer }, "charges", charges.map(statementLine), places, query);
    },
  }),
];

// The same columns for turns and calls, so that a table has one shape.
function statementLine(charge: Parameters<typeof chargeView>[0]) {
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
    batch: view.batch,
  };
}

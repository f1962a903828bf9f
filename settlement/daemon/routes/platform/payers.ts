import type { Address } from "viem";
import { z } from "zod";
import { formatUsd, microUsdc } from "../../../domain/money.ts";
import type { Preflight } from "../../../engine/preflight.ts";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { sentenceOf } from "../../startSession.ts";
import { answerStatement, statementQuery } from "../../statement.ts";
import { chargeView, exposureView, figuresView } from "../../views.ts";

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
    method: "GET",
    path: "/v1/payers/:payer/spendable",
    access: "platform",
    summary:
      "What a payer could be charged now, and why no more: balance, spending cap and daily cap, read from the chain",
    params,
    async handle({ params: { payer }, services: { engine } }) {
      const answer = await engine.preflight(payer, microUsdc(0n));
      // There is a wallet: it was asked for.
      if (answer.code === "no_wallet") throw new ApiError("not_found", `There is no payer ${payer}.`);
      return { body: spendableView(payer, answer) };
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

export function spendableView(payer: Address, answer: Exclude<Preflight, { code: "no_wallet" }>) {
  const reason = answer.code === "ok" ? null : sentenceOf(answer.reason);
  return { payer, allowed: answer.code === "ok", reason, ...figuresView(answer.figures) };
}

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

import { Readable } from "node:stream";
import { z } from "zod";
import { formatUsd, microUsdc } from "../../../domain/money.ts";
import { noReceipts, receiptsJson, receiptsSchema } from "../../../views/batches/receipts.ts";
import { statementLine, statementLineSchema } from "../../../views/charge.ts";
import { exposureSchema, exposureView, spendableSchema, spendableView } from "../../../views/payer.ts";
import * as shape from "../../../views/shapes.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { answerStatement, statementAnswer, statementQuery } from "../statement.ts";

const params = z.object({ payer: field.address });

export const payerRoutes = [
  route({
    method: "GET",
    path: "/v1/payers",
    access: "platform",
    summary: "Payers, those with debts first",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    answer: z.object({ payers: z.array(exposureSchema) }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { payers: (await ledger.listExposures(limit, offset)).map(exposureView) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer",
    access: "platform",
    summary: "What a payer owes, has reserved and was lent",
    params,
    answer: exposureSchema,
    errors: ["not_found"],
    async handle({ params: { payer }, services: { ledger } }) {
      const [exposure] = await ledger.readExposures([payer]);
      if (exposure === undefined) throw new ApiError("not_found", `there is no payer ${payer}`);
      return { body: exposureView(exposure) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer/spendable",
    access: "platform",
    summary:
      "What a payer could be charged now, and why no more: balance, caps, prepaid money and consent, read from the chain",
    params,
    answer: spendableSchema,
    errors: ["not_found"],
    async handle({ params: { payer }, services: { engine } }) {
      const [answer, refund] = await Promise.all([engine.preflight(payer, microUsdc(0n)), engine.findRefund(payer)]);
      // There is a wallet, and no budget: neither was asked about.
      if (!("funds" in answer)) throw new ApiError("not_found", `there is no payer ${payer}`);
      return { body: spendableView(payer, answer, refund) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/payers/:payer/clear-debt",
    access: "platform",
    summary: "The payer made good what the platform had absorbed, and may go on",
    params,
    body: field.nothing,
    answer: z.object({ payer: shape.address, clearedUsd: shape.usd }),
    async handle({ params: { payer }, services: { ledger }, log }) {
      const cleared = formatUsd(await ledger.clearDebt(payer));
      log.info({ event: "debt_cleared", payer, clearedUsd: cleared }, "debt cleared");
      return { body: { payer, clearedUsd: cleared } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer/batches/:batchId/receipts",
    access: "platform",
    summary: "What a payer was charged for in a batch: its receipts, and what proves them against the root on chain",
    params: z.object({ payer: field.address, batchId: field.hash }),
    answer: receiptsSchema,
    errors: ["not_found"],
    async handle({ params: { payer, batchId }, services: { engine } }) {
      const found = await engine.receiptsOf(batchId, payer);
      if (found === null) throw new ApiError("not_found", noReceipts(payer, batchId));
      return {
        text: Readable.from(receiptsJson(found), { objectMode: false }),
        contentType: "application/json; charset=utf-8",
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer/statement",
    access: "platform",
    summary: "A payer's charges, oldest first, as JSON or CSV",
    params,
    query: statementQuery,
    ...statementAnswer({ payer: shape.address }, "charges", statementLineSchema),
    async handle({ params: { payer }, query, services: { ledger } }) {
      const charges = await ledger.listChargesOfPayer(payer, query);
      const places = charges.map(({ id, accruedAtMs }) => ({ atMs: accruedAtMs, id }));
      return answerStatement({ payer }, "charges", charges.map(statementLine), places, query);
    },
  }),
];

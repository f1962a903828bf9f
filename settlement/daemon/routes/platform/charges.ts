import { z } from "zod";
import { noReceipt, proofSchema, proofView } from "../../../views/batches/proof.ts";
import { chargeDetailSchema, chargeSchema, chargeView } from "../../../views/charge.ts";
import { timeOf } from "../../../views/shapes.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { cursor } from "../statement.ts";

const params = z.object({ chargeId: field.hash });
const noCharge = (chargeId: string) => new ApiError("not_found", `there is no charge ${chargeId}`);

export const chargeRoutes = [
  route({
    method: "GET",
    path: "/v1/charges",
    access: "platform",
    summary: "Charges of all payers or of one, newest first; `next` is the `before` of the following page",
    query: z.strictObject({ payer: field.address.optional(), before: cursor.optional(), limit: field.limit }),
    answer: z.object({ charges: z.array(chargeSchema), next: z.string().nullable() }),
    async handle({ query: { payer = null, before = null, limit }, services: { ledger } }) {
      const charges = await ledger.listNewestCharges(payer, before, limit);
      const last = charges.length === limit ? charges.at(-1) : undefined;
      const next = last === undefined ? null : `${last.accruedAtMs}.${last.id}`;
      return { body: { charges: charges.map(chargeView), next } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/charges/:chargeId",
    access: "platform",
    summary: "Show a charge, where it is, and each time that its payer could not pay",
    params,
    answer: chargeDetailSchema,
    errors: ["not_found"],
    async handle({ params: { chargeId }, services: { ledger } }) {
      const [charge, failures] = await Promise.all([ledger.findCharge(chargeId), ledger.listFailures(chargeId)]);
      if (charge === null) throw noCharge(chargeId);
      return {
        body: {
          charge: chargeView(charge),
          failures: failures.map(({ reason, atMs }) => ({ reason, at: timeOf(atMs) })),
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/v1/charges/:chargeId/proof",
    access: "platform",
    summary: "Prove a charge against the root on chain",
    params,
    answer: proofSchema,
    errors: ["not_found", "conflict"],
    async handle({ params: { chargeId }, services: { engine } }) {
      const outcome = await engine.prove(chargeId);
      if (outcome.kind === "charge_not_found") throw noCharge(chargeId);
      if (outcome.kind === "not_in_a_batch") throw new ApiError("conflict", "the charge is in no batch yet");
      if (outcome.kind === "no_receipt") throw new ApiError("conflict", noReceipt(outcome.batchId));
      return { body: proofView(outcome.proof) };
    },
  }),
];

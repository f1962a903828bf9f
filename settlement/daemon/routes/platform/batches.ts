import { z } from "zod";
import { batchDetailSchema, batchSchema, batchView } from "../../../views/batches/batch.ts";
import { ApiError } from "../../http/errors.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";

export const batchRoutes = [
  route({
    method: "GET",
    path: "/v1/batches",
    access: "public",
    summary: "Batches, newest first",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    answer: z.object({ batches: z.array(batchSchema) }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { batches: (await ledger.listBatches(limit, offset)).map(batchView) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/batches/:batchId",
    access: "public",
    summary: "Show a batch, its transactions and what became of its rows",
    params: z.object({ batchId: field.hash }),
    answer: batchDetailSchema,
    errors: ["not_found"],
    async handle({ params: { batchId }, services: { ledger } }) {
      const [batch, submission] = await Promise.all([ledger.findBatch(batchId), ledger.findSubmission(batchId)]);
      if (batch === null) throw new ApiError("not_found", `there is no batch ${batchId}`);
      const txHashes = submission?.broadcasts.map(({ txHash }) => txHash) ?? [];
      return { body: { ...batchView(batch), nonce: submission?.nonce ?? null, txHashes } };
    },
  }),
];

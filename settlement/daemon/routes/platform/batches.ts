import { z } from "zod";
import { ApiError } from "../../errors.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { batchView } from "../../views.ts";

export const batchRoutes = [
  route({
    method: "GET",
    path: "/v1/batches",
    access: "public",
    summary: "Batches, newest first",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { batches: (await ledger.batches(limit, offset)).map(batchView) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/batches/:batch",
    access: "public",
    summary: "Show a batch, its transactions and what became of its rows",
    params: z.object({ batch: field.hash }),
    async handle({ params: { batch: root }, services: { ledger } }) {
      const [batch, submission] = await Promise.all([ledger.batch(root), ledger.submission(root)]);
      if (batch === null) throw new ApiError("not_found", `There is no batch ${root}.`);
      const txHashes = submission?.broadcasts.map(({ txHash }) => txHash) ?? [];
      return { body: { ...batchView(batch), nonce: submission?.nonce ?? null, txHashes } };
    },
  }),
];

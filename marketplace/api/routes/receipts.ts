import { z } from "zod";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { receiptsSchema } from "../../../settlement/views/batches/receipts.ts";
import { accountOf, route } from "../route.ts";

// What an account was charged for. It names no payer: whoever asks is the one.
export const receiptRoutes = [
  route({
    method: "GET",
    path: "/api/v1/batches/:batchId/receipts",
    access: "account",
    summary: "The account's receipts in a settled batch, and what proves them against the root on chain",
    params: z.object({ batchId: field.hash }),
    answer: receiptsSchema,
    errors: ["not_found"],
    async handle({ params: { batchId }, caller, services: { receipts } }) {
      const text = await receipts.receiptsOf(accountOf(caller), batchId);
      return { text, contentType: "application/json; charset=utf-8" };
    },
  }),
];

import { z } from "zod";
import { budgetSchema, budgetView } from "../../../views/budget.ts";
import * as shape from "../../../views/shapes.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { notKept } from "../budget.ts";

const params = z.object({ payer: field.address });

export const budgetRoutes = [
  route({
    method: "POST",
    path: "/v1/payers/:payer/budgets",
    access: "platform",
    summary: "Keep a budget that a payer has signed; the same id with a higher maxSpend raises it",
    params,
    body: z.strictObject({ budget: field.budget, signature: field.signature }),
    answer: z.object({ payer: shape.address, id: shape.digits }),
    errors: ["budget_forged", "conflict"],
    async handle({ params: { payer }, body: { budget, signature }, services, log }) {
      const { engine, helpUrl } = services;
      const kept = await engine.keepBudget({ ...budget, payer, signature });
      if (kept.kind === "refused") throw notKept(kept, helpUrl);
      const { id } = kept.budget;
      log.info({ event: "budget_kept", payer, budget: id.toString() }, "budget kept");
      return { body: { payer, id: id.toString() } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/payers/:payer/budgets",
    access: "platform",
    summary: "What a payer has signed, newest first, and what is left of it",
    params,
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    answer: z.object({ payer: shape.address, budgets: z.array(budgetSchema) }),
    async handle({ params: { payer }, query: { limit, offset }, services: { engine } }) {
      return { body: { payer, budgets: (await engine.listBudgets(payer, limit, offset)).map(budgetView) } };
    },
  }),
];

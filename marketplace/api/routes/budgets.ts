import { z } from "zod";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { budgetFields, budgetSchema } from "../../../settlement/views/budget.ts";
import { accountOf, route } from "../route.ts";

const BUDGETS = "/api/v1/budgets";
const answer = z.object({ budgets: z.array(budgetSchema) });

// What an account has signed. A budget may also come with the call, the session or the question that needs it.
export const budgetRoutes = [
  route({
    method: "GET",
    path: BUDGETS,
    access: "account",
    summary: "What the account has signed, newest first, and what is left of it",
    answer,
    async handle({ caller, services: { budgets } }) {
      return { body: { budgets: [...(await budgets.listBudgets(accountOf(caller)))] } };
    },
  }),
  route({
    method: "POST",
    path: BUDGETS,
    access: "account",
    summary: "Bring a budget that the account has signed; the same id with a higher maxSpendUsd raises it",
    body: z.object({ budget: field.budget, signature: field.signature }),
    answer,
    errors: ["budget_forged", "conflict"],
    async handle({ body: { budget, signature }, caller, services: { budgets } }) {
      const account = accountOf(caller);
      await budgets.keepBudget(account, { budget: budgetFields(budget), signature });
      return { body: { budgets: [...(await budgets.listBudgets(account))] } };
    },
  }),
];

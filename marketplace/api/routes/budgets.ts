import { z } from "zod";
import * as field from "../../../settlement/daemon/http/fields.ts";
import { budgetFields, budgetSchema } from "../../../settlement/views/budget.ts";
import { forgetSigned, keepSigned } from "../../accounts/keptBudget.ts";
import { accountOf, route } from "../route.ts";

const BUDGETS = "/api/v1/budgets";
const answer = z.object({ budgets: z.array(budgetSchema) });

// What an account has signed. A budget may also come with the call, the session or the question that needs it; the one that was
// brought here last is drawn on where a wallet demands consent and the request brings none.
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
    summary:
      "Bring a budget that the account has signed, for requests that bring none; the same id with a higher maxSpendUsd raises it",
    body: z.object({ budget: field.budget, signature: field.signature }),
    answer,
    errors: ["budget_forged", "conflict"],
    async handle({ body: { budget, signature }, caller, services: { budgets, store } }) {
      const account = accountOf(caller);
      const signed = { budget: budgetFields(budget), signature };
      await budgets.keepBudget(account, signed);
      await store.shared((sql) => keepSigned(sql, account, signed));
      return { body: { budgets: [...(await budgets.listBudgets(account))] } };
    },
  }),
  route({
    method: "DELETE",
    path: BUDGETS,
    access: "account",
    summary: "Draw on no budget any more unless a request brings it; what was signed is ended on chain alone",
    answer,
    async handle({ caller, services: { budgets, store } }) {
      const account = accountOf(caller);
      await store.shared((sql) => forgetSigned(sql, account));
      return { body: { budgets: [...(await budgets.listBudgets(account))] } };
    },
  }),
];

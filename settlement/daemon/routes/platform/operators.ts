import { z } from "zod";
import { operatorSchema } from "../../../views/service/operator.ts";
import { route } from "../../http/route.ts";

export const operatorRoutes = [
  route({
    method: "GET",
    path: "/v1/operators",
    access: "public",
    summary: "Operator keys: gas, the limit on chain and what is left of it, and what is on its way",
    answer: z.object({ operators: z.array(operatorSchema) }),
    async handle({ caller, services: { cachedReads } }) {
      const operators = await cachedReads.operators();
      // The names of machines are nobody else's business.
      const shown = caller.kind === "anybody" ? operators.map((operator) => ({ ...operator, lease: null })) : operators;
      return { body: { operators: shown } };
    },
  }),
];

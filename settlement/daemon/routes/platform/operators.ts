import { route } from "../../route.ts";

export const operatorRoutes = [
  route({
    method: "GET",
    path: "/v1/operators",
    access: "public",
    summary: "Operator keys: gas, the limit on chain and what is left of it, and what is on its way",
    async handle({ caller, services: { readings } }) {
      const operators = await readings.operators();
      // The names of machines are nobody else's business.
      const shown = caller.kind === "anybody" ? operators.map((operator) => ({ ...operator, lease: null })) : operators;
      return { body: { operators: shown } };
    },
  }),
];

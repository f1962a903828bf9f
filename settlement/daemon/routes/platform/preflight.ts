import { z } from "zod";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { sentenceOf } from "../../startSession.ts";
import { figuresView } from "../../views.ts";

// A no is an answer and not a failure, so both come with status 200.
export const preflightRoutes = [
  route({
    method: "POST",
    path: "/v1/preflight",
    access: "platform",
    summary: "Whether a payer can pay an amount; reads the chain and changes nothing",
    body: z.strictObject({ payer: field.address.nullable(), amountUsd: field.usd }),
    async handle({ body, services: { engine, helpUrl } }) {
      const answer = await engine.preflight(body.payer, body.amountUsd);
      switch (answer.code) {
        case "ok":
          return { body: { allowed: true, code: "ok", figures: figuresView(answer.figures) } };
        case "no_wallet":
          return { body: { allowed: false, code: answer.code, reason: "There is no wallet to be charged." } };
        default: {
          const help = answer.code === "insufficient_allowance" && helpUrl !== null ? { helpUrl } : {};
          const reason = sentenceOf(answer.reason);
          return { body: { allowed: false, code: answer.code, reason, ...help, figures: figuresView(answer.figures) } };
        }
      }
    },
  }),
];

import { z } from "zod";
import { sentenceOf } from "../../../domain/text/sentence.ts";
import { fundsSchema, fundsView } from "../../../views/payer.ts";
import { broughtIn } from "../../http/brought.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { notKept } from "../budget.ts";
import { NO_WALLET } from "../startSession.ts";

const helpUrl = z.url().optional();

// A no is an answer and not a failure, so both come with status 200.
export const preflightRoutes = [
  route({
    method: "POST",
    path: "/v1/preflight",
    access: "platform",
    summary:
      "Whether a payer can pay an amount, under a budget if it comes with one; reads the chain and reserves nothing",
    body: z.strictObject({ payer: field.address.nullable(), amountUsd: field.usd, ...field.signed }),
    example: { payer: field.example.address, amountUsd: "0.10" },
    answer: z.discriminatedUnion("code", [
      z.object({ allowed: z.literal(true), code: z.literal("ok"), funds: fundsSchema }),
      z.object({ allowed: z.literal(false), code: z.literal("no_wallet"), reason: z.string(), helpUrl }),
      z.object({
        allowed: z.literal(false),
        code: z.enum([
          "insufficient_allowance",
          "payment_failed",
          "credit_exceeded",
          "consent_required",
          "budget_exceeded",
          "budget_expired",
          "budget_tools",
        ]),
        reason: z.string(),
        helpUrl,
        funds: fundsSchema,
      }),
    ]),
    errors: ["budget_forged", "conflict"],
    async handle({ body, services: { engine, helpUrl } }) {
      const help = helpUrl === null ? {} : { helpUrl };
      const answer = await engine.preflight(body.payer, body.amountUsd, broughtIn(body));
      switch (answer.code) {
        case "ok":
          return { body: { allowed: true as const, code: answer.code, funds: fundsView(answer.funds) } };
        case "no_wallet":
          return { body: { allowed: false as const, code: answer.code, reason: sentenceOf(NO_WALLET), ...help } };
        case "budget_forged":
        case "conflict":
          throw notKept(answer, helpUrl);
        default: {
          const { code, funds } = answer;
          const own = code === "payment_failed" ? {} : help;
          return {
            body: { allowed: false as const, code, reason: sentenceOf(answer.reason), ...own, funds: fundsView(funds) },
          };
        }
      }
    },
  }),
];

import { z } from "zod";
import { auditSchema, auditView } from "../../../views/service/audit.ts";
import * as field from "../../http/fields.ts";
import { route, type Services } from "../../http/route.ts";

const answerOf = ({ auditor }: Services) => ({ body: auditView(auditor.runningSinceMs(), auditor.last()) });

export const auditRoutes = [
  route({
    method: "GET",
    path: "/v1/audit",
    access: "platform",
    summary: "What the last audit of the ledger against the chain found",
    query: z.strictObject({}),
    answer: auditSchema,
    handle: async ({ services }) => answerOf(services),
  }),
  route({
    method: "POST",
    path: "/v1/audit",
    access: "platform",
    console: true,
    summary: "Start an audit of the ledger against the chain, unless one runs or has only just ended",
    body: field.nothing,
    answer: auditSchema,
    async handle({ services }) {
      services.auditor.start();
      return answerOf(services);
    },
  }),
];

import { z } from "zod";
import * as field from "../../fields.ts";
import { earningsOf } from "../../readTools.ts";
import { route } from "../../route.ts";
import { answerStatement, statementQuery } from "../../statement.ts";
import { earningView, toolView } from "../../views.ts";

export const toolRoutes = [
  route({
    method: "GET",
    path: "/v1/tools",
    access: "public",
    summary: "What each tool has earned in final batches, and how it stands in the registry",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    async handle({ query: { limit, offset }, services: { readings } }) {
      return { body: { tools: await readings.tools(limit, offset) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/tools/:toolId",
    access: "public",
    summary: "What a tool has earned in final batches",
    params: z.object({ toolId: field.toolId }),
    async handle({ params: { toolId }, services: { ledger } }) {
      return { body: toolView(await earningsOf(ledger, toolId)) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/developers/:developer/statement",
    access: "platform",
    summary: "What a developer was credited, per batch and tool, oldest first, as JSON or CSV",
    params: z.object({ developer: field.address }),
    query: statementQuery,
    async handle({ params: { developer }, query, services: { ledger } }) {
      const earnings = await ledger.earningsOf(developer, query);
      const places = earnings.map(({ root, toolId, settledAtMs }) => ({
        atMs: settledAtMs,
        id: root + toolId.slice(2),
      }));
      return answerStatement({ developer }, "earnings", earnings.map(earningView), places, query);
    },
  }),
];

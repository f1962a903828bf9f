import { z } from "zod";
import { microUsdc } from "../../../domain/money.ts";
import * as field from "../../fields.ts";
import { route } from "../../route.ts";
import { answerStatement, statementQuery } from "../../statement.ts";
import { earningView, toolView } from "../../views.ts";

const NOTHING = microUsdc(0n);

export const toolRoutes = [
  route({
    method: "GET",
    path: "/v1/tools",
    access: "platform",
    summary: "What each tool has earned in final batches",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    async handle({ query: { limit, offset }, services: { ledger } }) {
      return { body: { tools: (await ledger.earningsByTool(limit, offset)).map(toolView) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/tools/:toolId",
    access: "platform",
    summary: "What a tool has earned in final batches",
    params: z.object({ toolId: field.toolId }),
    async handle({ params: { toolId }, services: { ledger } }) {
      const earnings = await ledger.earningsOfTool(toolId);
      return { body: toolView(earnings ?? { toolId, batches: 0, amount: NOTHING, developerShare: NOTHING }) };
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

import { z } from "zod";
import { type ToolId, uuidFromToolId } from "../../../domain/toolId.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import * as shape from "../../../views/shapes.ts";
import { earningSchema, earningView, toolRowSchema, toolSchema, toolView } from "../../../views/tool.ts";
import * as field from "../../http/fields.ts";
import { route } from "../../http/route.ts";
import { earningsOf } from "../../observability/reads/readTools.ts";
import { answerStatement, statementAnswer, statementQuery } from "../statement.ts";

async function showTool(ledger: Ledger, toolId: ToolId) {
  const [earnings, name] = await Promise.all([earningsOf(ledger, toolId), ledger.findToolName(toolId)]);
  return toolView(earnings, name);
}

export const toolRoutes = [
  route({
    method: "GET",
    path: "/v1/tools",
    access: "public",
    summary: "What each tool has earned in final batches and how it stands in the registry, unused ones last",
    query: z.strictObject({ limit: field.limit, offset: field.offset }),
    answer: z.object({ tools: z.array(toolRowSchema) }),
    async handle({ query: { limit, offset }, services: { cachedReads } }) {
      return { body: { tools: await cachedReads.tools(limit, offset) } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/tools/:toolId",
    access: "public",
    summary: "What a tool has earned in final batches",
    params: z.object({ toolId: field.toolId }),
    answer: toolSchema,
    async handle({ params: { toolId }, services: { ledger } }) {
      return { body: await showTool(ledger, toolId) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/tools/:toolId",
    access: "platform",
    summary: "Name a tool for people; the chain knows its id alone",
    params: z.object({ toolId: field.toolId }),
    body: z.strictObject({ name: field.label }),
    answer: toolSchema,
    async handle({ params: { toolId }, body: { name }, services: { ledger, clock }, log }) {
      await ledger.nameTool(toolId, name, clock.nowMs());
      log.info({ event: "tool_named", tool: uuidFromToolId(toolId), name }, "tool named");
      return { body: await showTool(ledger, toolId) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/developers/:developer/statement",
    access: "platform",
    summary: "What a developer was credited, per batch and tool, oldest first, as JSON or CSV",
    params: z.object({ developer: field.address }),
    query: statementQuery,
    ...statementAnswer({ developer: shape.address }, "earnings", earningSchema),
    async handle({ params: { developer }, query, services: { ledger } }) {
      const earnings = await ledger.listEarnings(developer, query);
      const places = earnings.map(({ batchId, toolId, settledAtMs }) => ({
        atMs: settledAtMs,
        id: batchId + toolId.slice(2),
      }));
      return answerStatement({ developer }, "earnings", earnings.map(earningView), places, query);
    },
  }),
];

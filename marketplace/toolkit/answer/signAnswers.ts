import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolRequest, ListToolsResult } from "@modelcontextprotocol/sdk/types.js";
import { type Hex, isHash, type LocalAccount } from "viem";
import { ANSWER_META, type Answer, CHARGE_META, type Court, hashJson, hashRequest, typedAnswer } from "./answer.ts";

export type SignAnswersOptions = {
  // The tool's UUID, as it is listed.
  toolId: string;
  // The answer key that is registered for the tool. It can be held responsible and holds no money.
  account: LocalAccount;
  court: Court;
  nowMs?: () => number;
};

type Handler = (request: unknown, extra: unknown) => unknown;
type Result = { structuredContent?: unknown; isError?: boolean; _meta?: Record<string, unknown> };

// Makes an MCP server sign what it answers to calls that are paid for. Called before the server's tools are registered:
//
//   const server = signAnswers(new McpServer({ name: "quotes", version: "1.0.0" }), { toolId, account, court });
//
// Answers without a schema, failures, and calls without a charge promise nothing and are not signed.
export function signAnswers<Server extends McpServer>(server: Server, options: SignAnswersOptions): Server {
  const handlers = new Map<string, Handler>();
  const { server: protocol } = server;
  const register = protocol.setRequestHandler.bind(protocol) as (schema: unknown, handler: Handler) => void;

  async function schemaOf(method: string, extra: unknown): Promise<unknown> {
    const list = await handlers.get("tools/list")?.({ method: "tools/list", params: {} }, extra);
    return (list as ListToolsResult | undefined)?.tools.find(({ name }) => name === method)?.outputSchema;
  }

  async function call(request: CallToolRequest, extra: unknown): Promise<unknown> {
    const result = (await handlers.get("tools/call")?.(request, extra)) as Result;
    const chargeId = request.params._meta?.[CHARGE_META];
    if (typeof chargeId !== "string" || !isHash(chargeId)) return result;
    if (result.isError === true || result.structuredContent === undefined) return result;
    const schema = await schemaOf(request.params.name, extra);
    if (schema === undefined) return result;
    const signed = await signAnswer(
      {
        method: request.params.name,
        args: request.params.arguments,
        chargeId,
        content: result.structuredContent,
        schema,
      },
      options,
    );
    return { ...result, _meta: { ...result._meta, [ANSWER_META]: signed } };
  }

  // The server registers its handlers with the first tool, by a method of the schema that it hands over.
  protocol.setRequestHandler = ((schema: { shape: { method: unknown } }, handler: Handler) => {
    const method = literalOf(schema.shape.method);
    if (method !== "tools/list" && method !== "tools/call") return register(schema, handler);
    handlers.set(method, handler);
    register(schema, method === "tools/call" ? (call as Handler) : handler);
  }) as typeof protocol.setRequestHandler;
  return server;
}

export type Given = { method: string; args: unknown; chargeId: Hex; content: unknown; schema: unknown };

export async function signAnswer(
  { method, args, chargeId, content, schema }: Given,
  { toolId, account, court, nowMs = Date.now }: SignAnswersOptions,
): Promise<Answer & { signature: Hex }> {
  const answer: Answer = {
    toolId,
    method,
    chargeId,
    requestHash: hashRequest(method, args),
    answerHash: hashJson(content),
    schemaHash: hashJson(schema),
    answeredAt: Math.floor(nowMs() / 1_000),
  };
  return { ...answer, signature: await account.signTypedData(typedAnswer(answer, court)) };
}

// Of zod 4 and of zod 3.
const literalOf = (literal: unknown): unknown =>
  typeof literal === "object" && literal !== null && "value" in literal ? literal.value : undefined;

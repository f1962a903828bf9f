import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeJwt } from "jose";
import {
  type Message,
  readMessage,
  resultOf,
  sendJson,
  startServer,
} from "../../marketplace/mcp/testing/startServer.ts";
import { TOOL_ID_HEADER } from "../../marketplace/toolkit/middleware/toolIdHeader.ts";

export type ToolMethod = {
  name: string;
  description?: unknown;
  inputSchema?: object;
  outputSchema?: object;
  _meta?: unknown;
};

export type ToolServer = Awaited<ReturnType<typeof startTool>>;

type ToolIds = readonly string[] | ((path: string) => readonly string[] | null);

type Call = {
  name: string;
  args: Record<string, unknown>;
  message: Message;
  request: IncomingMessage;
  response: ServerResponse;
};

export const OUTPUT = { type: "object", properties: { value: { type: "number" } }, required: ["value"] };
export const GAS: ToolMethod = {
  name: "get_gas_prices",
  description: "Current gas prices of Base",
  inputSchema: { type: "object", properties: {} },
  outputSchema: OUTPUT,
  _meta: { pricing: { executeUsd: "0.001" }, latencyClass: "fast" },
};

export const structured = (value: unknown) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

// A marketplace of a test signs nothing, and names the address in the third word.
const audienceOf = (token: string) =>
  (token.includes(" ") ? token.split(" ")[2] : decodeJwt(token).aud)?.toString() ?? "";

// An MCP server that refuses calls without a token, counts them, and answers as the test says; by default what GAS promises.
export async function startTool(
  options: {
    methods?: readonly ToolMethod[];
    open?: boolean;
    anyAudience?: boolean;
    // Whatever it returns is the result; undefined if it has answered by itself, or never will.
    call?: (call: Call) => unknown;
    // As which tools it says that it is sold, perhaps at each address as another; it does not say unless a test wants it to.
    toolIds?: ToolIds;
    // What it waits for before it lists its methods.
    list?: () => Promise<unknown>;
  } = {},
) {
  const state = {
    methods: options.methods ?? [GAS],
    open: options.open ?? false,
    calls: 0,
    // Whether it takes tokens for other servers too.
    anyAudience: options.anyAudience ?? false,
    down: false,
    broken: null as string | null,
    toolIds: options.toolIds ?? (null as ToolIds | null),
    // What it was told beside requests, such as that one is cancelled.
    notified: [] as Message[],
  };
  const tool = { ...options };
  const server = await startServer(async (request, response) => {
    const message = await readMessage(request);
    const toolIds = typeof state.toolIds === "function" ? state.toolIds(request.url ?? "") : state.toolIds;
    if (toolIds !== null) response.setHeader(TOOL_ID_HEADER, toolIds.join(", "));
    if (state.down) return void response.destroy();
    if (state.broken !== null) return void response.writeHead(500).end(state.broken);
    if (message.method === "initialize") {
      const protocolVersion = message.params?.protocolVersion;
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tool", version: "1" } };
      return sendJson(response, resultOf(message, result));
    }
    if (message.id === undefined) {
      state.notified.push(message);
      return void response.writeHead(202).end();
    }
    if (message.method === "tools/list") {
      await tool.list?.();
      const tools = state.methods.map((method) => ({ inputSchema: { type: "object" }, ...method }));
      return sendJson(response, resultOf(message, { tools }));
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const isMine =
      token !== undefined && (state.anyAudience || URL.parse(audienceOf(token))?.port === `${server.port}`);
    if (!state.open && !isMine) return sendJson(response, { error: "Unauthorized" }, 401);
    state.calls += 1;
    const { name, arguments: args = {} } = message.params as { name: string; arguments?: Record<string, unknown> };
    const call = tool.call ?? (() => structured({ value: 12 }));
    const result = await call({ name, args, message, request, response });
    if (result !== undefined) sendJson(response, resultOf(message, result));
  });
  // A port may be given again to another server of the same test, whose address is another one all the same.
  return { ...server, url: `${server.url}/${randomUUID()}`, state, tool };
}

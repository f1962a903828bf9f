import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { VerifierOptions } from "./middleware/createVerifier.ts";
import { type ContextListener, withContext } from "./middleware/middleware.ts";

export type ServeToolOptions = {
  host?: string;
  // Zero takes any that is free.
  port?: number;
  path?: string;
  // Whose calls are taken. A tool without it takes everybody's, and must be free.
  protect?: Partial<VerifierOptions>;
};

export type ServedTool = { url: string; close(): Promise<void> };

// Serves a tool over Streamable HTTP: one line for whoever has no web server of their own.
export async function serveTool(create: () => McpServer, options: ServeToolOptions = {}): Promise<ServedTool> {
  const { host = "127.0.0.1", port = 0, path = "/mcp", protect } = options;
  let serve: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => {
    if (URL.parse(request.url ?? "", "http://localhost")?.pathname === path) serve(request, response);
    else response.writeHead(404).end();
  });
  const url = `${await listen(server, host, port)}${path}`;
  // What the tool is called from outside is its audience, unless it stands behind another name.
  const handle = handleMcp(create);
  serve = protect === undefined ? handle : withContext({ audience: url, ...protect }, handle);
  return { url, close: () => close(server) };
}

// Answers MCP without sessions: a server object for each request, so that callers share nothing.
export function handleMcp(create: () => McpServer): ContextListener {
  return async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on("close", () => void transport.close());
    // The SDK's types do not agree with each other about what may be undefined.
    await create().connect(transport as Transport);
    await transport.handleRequest(request, response, request.body);
  };
}

export async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

export const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

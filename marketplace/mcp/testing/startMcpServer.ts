import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { startServer, type TestServer } from "./startServer.ts";

export type ServerKind = "stateless" | "json" | "sessions" | "sse";

// The SDK's own server, in each of the ways in which servers of the field are run.
export async function startMcpServer(
  create: () => McpServer,
  kind: ServerKind = "stateless",
  // What it answers by itself goes no further.
  onRequest: (request: IncomingMessage, response: ServerResponse) => void = () => undefined,
): Promise<TestServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();
  const connect = (server: McpServer, transport: unknown) => server.connect(transport as Transport);

  return startServer(async (request, response) => {
    onRequest(request, response);
    if (response.writableEnded) return;
    if (kind === "sse") {
      const url = new URL(request.url ?? "/", "http://localhost");
      if (request.method === "GET") {
        const transport = new SSEServerTransport("/messages", response);
        sessions.set(transport.sessionId, transport);
        await connect(create(), transport);
      } else {
        const transport = sessions.get(url.searchParams.get("sessionId") ?? "");
        if (transport instanceof SSEServerTransport) await transport.handlePostMessage(request, response);
        else response.writeHead(404).end();
      }
      return;
    }
    if (kind === "sessions") {
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      if (known instanceof StreamableHTTPServerTransport) return known.handleRequest(request, response);
      if (request.headers["mcp-session-id"] !== undefined) return void response.writeHead(404).end();
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await connect(create(), transport);
      return transport.handleRequest(request, response);
    }
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: kind === "json" });
    await connect(create(), transport);
    await transport.handleRequest(request, response);
  });
}

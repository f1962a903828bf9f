import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type TestServer = {
  url: string;
  port: number;
  requests(): number;
  connections(): number;
  close(): Promise<void>;
};

export type ServerOptions = { requestsPerConnection?: number };

// A server on this machine that does whatever a test wants, and ends with all of its connections.
export async function startServer(listener: RequestListener, options: ServerOptions = {}): Promise<TestServer> {
  let requests = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    requests++;
    listener(request, response);
  });
  server.maxRequestsPerSocket = options.requestsPerConnection ?? 0;
  // Whoever uses a connection again just as it is closed for being idle sees a reset, which on a loaded machine happens.
  server.keepAliveTimeout = 0;
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    requests: () => requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Message = { id?: number | string; method?: string; params?: Record<string, unknown> };

export type Answer = (message: Message, response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

// A server that shakes hands as MCP wants it, and leaves everything else to the test: whatever it may say, raw.
export function startRawMcpServer(answer: Answer, options: ServerOptions = {}): Promise<TestServer> {
  return startServer(async (request, response) => {
    const message = await readMessage(request);
    if (message.method === "initialize") {
      const protocolVersion = message.params?.protocolVersion;
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } };
      sendJson(response, { jsonrpc: "2.0", id: message.id, result });
    } else if (message.id === undefined) response.writeHead(202).end();
    else await answer(message, response, request);
  }, options);
}

export async function readMessage(request: IncomingMessage): Promise<Message> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

// The result of a call, in the words of JSON-RPC.
export const resultOf = (message: Message, result: unknown) => ({ jsonrpc: "2.0", id: message.id, result });

export const textResult = (text: string) => ({ content: [{ type: "text", text }] });

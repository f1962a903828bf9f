import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { McpFailure } from "./McpFailure.ts";
import { createHttpTransport, type GuardedTransport, type TransportOptions } from "./transport/createHttpTransport.ts";
import { createSseTransport } from "./transport/createSseTransport.ts";
import { currentExchange } from "./transport/exchange.ts";
import { toolIdsInInstructions } from "./transport/toolIdsIn.ts";

export type ClientInfo = { name: string; version: string };

// A client that has shaken hands with a server.
export type Session = {
  client: Client;
  // As which tools the server has said that it is sold. Null: it did not say.
  toolIds: readonly string[] | null;
  isOver(): boolean;
  close(): Promise<void>;
};

// Reasons for which another transport would fail the same way.
const FINAL = new Set(["forbiddenEndpoint", "unreachable", "redirected", "unauthorized", "rateLimited"]);

// Streamable HTTP, then server-sent events; the other way round where the path speaks of SSE. What the first one failed of
// is what is reported.
export async function openSession(options: TransportOptions, info: ClientInfo): Promise<Session> {
  const creators = [createHttpTransport, createSseTransport];
  if (/sse/i.test(options.url.pathname)) creators.reverse();
  let first: unknown;
  for (const create of creators) {
    try {
      return await shakeHands(create(options), info);
    } catch (error) {
      first ??= error;
      if (error instanceof McpFailure && FINAL.has(error.reason)) break;
    }
  }
  throw first;
}

async function shakeHands(transport: GuardedTransport, info: ClientInfo): Promise<Session> {
  const client = new Client(info);
  try {
    await client.connect(transport);
  } catch (error) {
    await transport.close();
    if (error instanceof McpFailure || error instanceof McpError) throw error;
    // The SDK found something in the handshake that is not MCP, or a version that it does not speak.
    const message = error instanceof Error ? error.message : String(error);
    throw new McpFailure("malformed", `the server's handshake is not MCP: ${message}`, { cause: error });
  }
  const toolIds = currentExchange.getStore()?.toolIds ?? toolIdsInInstructions(client.getInstructions());
  return { client, toolIds, isOver: transport.isOver, close: () => client.close() };
}

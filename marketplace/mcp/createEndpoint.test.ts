import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { createEndpoint } from "./createEndpoint.ts";
import { createAgent } from "./guard/createAgent.ts";
import type { Session } from "./openSession.ts";
import { createRoom } from "./pacing/createRoom.ts";
import { readMessage, resultOf, startServer } from "./testing/startServer.ts";
import type { Exchange } from "./transport/exchange.ts";

const PATIENTLY = { timeout: 120_000, interval: 20 };

it("a stream that ends while nobody waits is replaced before anybody's call finds out", async () => {
  const streams: ServerResponse[] = [];
  const server = await startServer(async (request, response) => {
    if (request.method === "GET") {
      streams.push(response.writeHead(200, { "content-type": "text/event-stream" }));
      response.write("event: endpoint\ndata: /messages\n\n");
      return;
    }
    const message = await readMessage(request);
    response.writeHead(202).end();
    if (message.id === undefined) return;
    const protocolVersion = message.params?.protocolVersion;
    const result = { protocolVersion, capabilities: {}, serverInfo: { name: "old", version: "1" } };
    streams.at(-1)?.write(`data: ${JSON.stringify(resultOf(message, result))}\n\n`);
  });
  const agent = createAgent({ policy: "development" });
  const endpoint = createEndpoint({
    ...{ agent, url: new URL(`${server.url}/sse`), maxAnswerBytes: 1_000_000, connectTimeoutMs: 60_000 },
    info: { name: "test", version: "1" },
    room: createRoom(1),
  });
  const { signal } = new AbortController();
  const exchange: Exchange = { token: undefined, requestId: undefined, signal, sent: false };
  const sessionNow = () => endpoint.inSession(exchange, async (session): Promise<Session> => session);
  try {
    const first = await sessionNow();
    expect(await sessionNow()).toBe(first);
    streams[0]?.end();
    await expect.poll(first.isOver, PATIENTLY).toBe(true);
    const second = await sessionNow();
    expect(second).not.toBe(first);
    expect(second.isOver()).toBe(false);
    expect(streams).toHaveLength(2);
  } finally {
    await endpoint.close();
    await agent.destroy();
    await server.close();
  }
});

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { registerFront } from "./registerFront.ts";

const KEY = "sk_live_right";
const TOOL = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";

// The routes behind the front, as far as it can see: what they are asked, and what they say.
let asked: unknown[] = [];
let app: FastifyInstance;
let url: string;

beforeAll(async () => {
  app = Fastify();
  app.get("/api/v1/tools/search", async ({ query, headers }) => {
    asked.push({ query, authorization: headers.authorization });
    return { tools: [], mode: "execute", query: "", count: 0 };
  });
  app.post("/api/v1/tools/execute", async ({ body, headers }, reply) => {
    asked.push({ body, authorization: headers.authorization, key: headers["idempotency-key"] });
    if (headers.authorization === undefined)
      return reply.code(401).send({ error: "Send a key.", code: "unauthorized" });
    return { success: true, result: "x".repeat(3_000_000) };
  });
  registerFront(app, {
    version: "1.0.0",
    admit: async ({ headers }) => {
      if (headers.authorization !== undefined && headers.authorization !== `Bearer ${KEY}`) {
        throw Object.assign(new Error("no such key"), { statusCode: 401 });
      }
    },
  });
  url = `${await app.listen({ port: 0, host: "127.0.0.1" })}/api/mcp`;
});
afterAll(() => app.close());
beforeEach(() => {
  asked = [];
});

async function connect(key?: string): Promise<Client> {
  const client = new Client({ name: "an agent", version: "1" });
  const requestInit = key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as Transport);
  return client;
}

describe("an agent that knows the marketplace's address", () => {
  it("finds tools in it to search, to buy and to ask, and what they take", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "context_discover",
      "context_execute",
      "context_query",
      "context_query_start",
      "context_query_poll",
      "context_query_status",
    ]);
    expect(client.getInstructions()).toContain("context_discover");
    await client.close();
  });

  it("searches without a key", async () => {
    const client = await connect();
    const found = await client.callTool({ name: "context_discover", arguments: { query: "gas prices" } });
    expect(found.structuredContent).toMatchObject({ count: 0 });
    expect(asked).toEqual([
      { query: { q: "gas prices", limit: "5", mode: "execute", view: "compact" }, authorization: undefined },
    ]);
    const tooMany = await client.callTool({ name: "context_discover", arguments: { limit: 21 } });
    expect(tooMany.isError).toBe(true);
    await client.close();
  });

  it("buys with its key, under the key of the call, and gets megabytes", async () => {
    const client = await connect(KEY);
    const args = { toolId: TOOL, toolName: "quote", args: { of: "ETH" }, maxSpendUsd: "1.00", idempotencyKey: "once" };
    const bought = await client.callTool({ name: "context_execute", arguments: args });
    expect(bought.structuredContent).toMatchObject({ success: true });
    expect(asked).toEqual([
      {
        body: { mode: "execute", toolId: TOOL, toolName: "quote", args: { of: "ETH" }, maxSpendUsd: "1.00" },
        authorization: `Bearer ${KEY}`,
        key: "once",
      },
    ]);
    await client.close();
  });

  it("is told in words that its model can read what is wrong", async () => {
    const client = await connect();
    const refused = await client.callTool({ name: "context_execute", arguments: { toolId: TOOL, toolName: "quote" } });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: '{"error":"Send a key.","code":"unauthorized"}' }],
    });
    await client.close();
  });

  it("is refused with a wrong key before anything else", async () => {
    await expect(connect("sk_live_wrong")).rejects.toThrow("401");
  });

  it("is refused with two messages of one id, of which one answer would be lost though both are paid", async () => {
    const call = {
      method: "tools/call",
      params: { name: "context_execute", arguments: { toolId: TOOL, toolName: "x" } },
    };
    const send = (...ids: unknown[]) =>
      fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${KEY}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(ids.map((id) => ({ jsonrpc: "2.0", id, ...call }))),
      });
    const refused = await send(1, 2, 1);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: "Two messages of a list have the same id; give each its own.", code: "invalid_request" },
    ]);
    expect(asked).toEqual([]);
    // A number is another id than its text.
    expect(await (await send(1, "1")).json()).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  it("has nothing to listen to", async () => {
    const refused = await fetch(url);
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
    // In the shape of every error.
    expect(await refused.json()).toEqual({ error: "Send MCP messages by POST.", code: "invalid_request" });
    expect((await fetch(url, { method: "DELETE" })).status).toBe(405);
  });
});

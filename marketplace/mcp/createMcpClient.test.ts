import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { TOOL_ID_HEADER } from "../toolkit/middleware/toolIdHeader.ts";
import { createMcpClient, type McpClient } from "./createMcpClient.ts";
import { type ServerKind, startMcpServer } from "./testing/startMcpServer.ts";
import {
  type Message,
  readMessage,
  resultOf,
  sendJson,
  startRawMcpServer,
  startServer,
  type TestServer,
  textResult,
} from "./testing/startServer.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

// From now on time passes only when the test says so, however long anything takes.
const stopTime = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });

function client(options: Partial<Parameters<typeof createMcpClient>[0]> = {}): McpClient {
  const created = createMcpClient({ policy: "development", ...options });
  ends.push(() => created.close());
  return created;
}

async function kept<T extends TestServer>(server: Promise<T>): Promise<T> {
  const started = await server;
  ends.push(() => started.close());
  return started;
}

const argumentIn = ({ params }: Message, name: string) =>
  (params?.arguments as Record<string, string> | undefined)?.[name] ?? "";

function createAdder(): McpServer {
  const server = new McpServer({ name: "adder", version: "1.2.3" });
  const outputSchema = { sum: z.number() };
  server.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema, _meta: { pricing: { executeUsd: "0.001" } } },
    ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
  );
  server.registerTool("fail", {}, () => ({ content: [{ type: "text", text: '{ "why": "no" }' }], isError: true }));
  server.registerTool("large", {}, () => ({ content: [{ type: "text", text: "x".repeat(5_000_000) }] }));
  return server;
}

describe.each<ServerKind>(["stateless", "json", "sessions", "sse"])("a real MCP server (%s)", (kind) => {
  it("says as which tools it is sold whenever it is asked", async () => {
    const toolIds = ["0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b", "no id"];
    const server = await kept(
      startMcpServer(createAdder, kind, (_, response) =>
        response.setHeader(TOOL_ID_HEADER, ` ${toolIds.join(" ,").toUpperCase()}`),
      ),
    );
    const tool = client().connect(server.url);
    for (let times = 1; times <= 2; times += 1) {
      expect(await tool.ping()).toMatchObject({ kind: "alive", toolIds });
      expect(await tool.listTools()).toMatchObject({ kind: "listed", toolIds });
    }
  });

  it("may say so in its instructions, on a line of its own", async () => {
    const toolId = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
    let instructions = "Adds.\nNo line says X-Context-Tool-Id: nonsense";
    const create = () => new McpServer({ name: "adder", version: "1" }, { instructions, capabilities: { tools: {} } });
    const served = () => {
      const server = create();
      server.registerTool("add", {}, () => ({ content: [] }));
      return server;
    };
    const tool = client().connect((await kept(startMcpServer(served, kind))).url);
    expect(await tool.listTools()).toMatchObject({ kind: "listed", toolIds: null });
    instructions = `Adds.\nX-Context-Tool-Id: ${toolId.toUpperCase()}, other\r\nAnd no more.`;
    expect(await tool.listTools()).toMatchObject({ kind: "listed", toolIds: [toolId, "other"] });
    expect(await tool.ping()).toMatchObject({ kind: "alive", toolIds: [toolId, "other"] });
  });

  it("is pinged, listed and called", async () => {
    const server = await kept(startMcpServer(createAdder, kind));
    const tool = client().connect(server.url);
    expect(await tool.ping()).toEqual({ kind: "alive", server: { name: "adder", version: "1.2.3" }, toolIds: null });
    const listed = await tool.listTools();
    expect(listed).toMatchObject({ kind: "listed" });
    const methods = listed.kind === "listed" ? listed.methods : [];
    expect(methods.map(({ name }) => name)).toEqual(["add", "fail", "large"]);
    expect(methods[0]).toMatchObject({
      outputSchema: { type: "object" },
      _meta: { pricing: { executeUsd: "0.001" } },
    });
    expect(await tool.callTool("add", { a: 2, b: 3 })).toMatchObject({ kind: "answered", result: { sum: 5 } });
    expect(await tool.callTool("fail", {})).toMatchObject({ kind: "toolFailed", message: '{"why":"no"}' });
    expect((await tool.callTool("add", { a: "two" })).kind).toBe("toolFailed");
    expect((await tool.callTool("vanished", {})).kind).toBe("toolFailed");
  });

  it("answers megabytes", async () => {
    const server = await kept(startMcpServer(createAdder, kind));
    const outcome = await client().connect(server.url).callTool("large", {});
    expect(outcome.kind === "answered" && String(outcome.result).length).toBe(5_000_000);
  });

  it("serves many callers at once, each with an answer of its own", async () => {
    const server = await kept(startMcpServer(createAdder, kind));
    const tool = client().connect(server.url);
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, a) => tool.callTool("add", { a, b: 0 })));
    expect(outcomes.map((outcome) => outcome.kind === "answered" && outcome.result)).toEqual(
      Array.from({ length: 50 }, (_, sum) => ({ sum })),
    );
  });
});

it("calls one after another share a session and its connections", async () => {
  const server = await kept(startMcpServer(createAdder));
  const tool = client().connect(server.url);
  for (let a = 0; a < 20; a++) await tool.callTool("add", { a, b: 1 });
  // The handshake is two requests, and a pool may open a second connection while the first is not quite done.
  expect(server.requests()).toBe(22);
  expect(server.connections()).toBeLessThanOrEqual(2);
});

it("each request carries its own token and id", async () => {
  const seen: unknown[] = [];
  const server = await kept(
    startRawMcpServer((message, response, { headers }) => {
      seen.push([message.params?.name, headers.authorization, headers["x-context-request-id"]]);
      sendJson(response, resultOf(message, textResult("done")));
    }),
  );
  const tool = client().connect(server.url);
  await Promise.all(
    ["a", "b", "c"].map((name) =>
      tool.callTool(name, {}, { token: async () => `token-${name}`, requestId: `id-${name}` }),
    ),
  );
  expect(seen.sort()).toEqual(["a", "b", "c"].map((name) => [name, `Bearer token-${name}`, `id-${name}`]));
});

it("a tool that hangs is timed out, told so, and its connection is closed", async () => {
  const closed = Promise.withResolvers<void>();
  const server = await kept(
    startRawMcpServer((_message, response) => {
      response.on("close", closed.resolve);
      vi.advanceTimersByTime(300);
    }),
  );
  stopTime();
  const outcome = await client().connect(server.url).callTool("hang", {}, { timeoutMs: 300 });
  expect(outcome).toEqual({ kind: "timedOut", afterMs: 300, sent: true });
  await closed.promise;
});

it("a tool may take 59 seconds, and not a whole minute", async () => {
  for (const [passesMs, kind] of [
    [59_000, "answered"],
    [60_000, "timedOut"],
  ] as const) {
    const server = await kept(
      startRawMcpServer((message, response) => {
        vi.advanceTimersByTime(passesMs);
        sendJson(response, resultOf(message, textResult("slow")));
      }),
    );
    stopTime();
    expect(await client().connect(server.url).callTool("slow", {})).toMatchObject({ kind });
    vi.useRealTimers();
  }
});

it("a caller who leaves cancels the call", async () => {
  const leaving = new AbortController();
  const server = await kept(startRawMcpServer(() => leaving.abort()));
  const outcome = await client().connect(server.url).callTool("hang", {}, { signal: leaving.signal });
  expect(outcome).toEqual({ kind: "cancelled", sent: true });
});

it("a caller who has left before sends nothing", async () => {
  const server = await kept(startRawMcpServer(() => undefined));
  const outcome = await client().connect(server.url).callTool("hang", {}, { signal: AbortSignal.abort() });
  expect(outcome).toEqual({ kind: "cancelled", sent: false });
  expect(server.requests()).toBe(0);
});

// As MCP wants it, and as the examples of its SDK do it.
it.each([
  [404, "sessionLost"],
  [400, "httpStatus"],
])(
  "a server that restarts and answers %i to sessions of before costs one call, and no call is sent twice",
  async (status, reason) => {
    let calls = 0;
    const seen = new Set<unknown>();
    let forgotten = new Set<unknown>();
    const server = await kept(
      startMcpServer(
        () => {
          const tools = createAdder();
          tools.registerTool("count", {}, () => ({ content: [{ type: "text", text: String(++calls) }] }));
          return tools;
        },
        "sessions",
        (request, response) => {
          const id = request.headers["mcp-session-id"];
          if (id === undefined) return;
          const isForgotten = forgotten.has(id);
          seen.add(id);
          if (!isForgotten) return;
          const error = { code: -32000, message: "Bad Request: No valid session ID provided" };
          sendJson(response, { jsonrpc: "2.0", error, id: null }, status);
        },
      ),
    );
    const tool = client().connect(server.url);
    expect(await tool.callTool("count", {})).toMatchObject({ kind: "answered", result: 1 });
    forgotten = new Set(seen);
    expect(await tool.callTool("count", {})).toMatchObject({ kind: "infrastructure", reason, status, sent: true });
    expect(await tool.callTool("count", {})).toMatchObject({ kind: "answered", result: 2 });
  },
);

it.each([
  ["its own path with a slash", "/mcp/", "/mcp/"],
  ["another host, with a secret", "//other.example/a?key=1#x", "http://other.example/a"],
  ["a path without end", `/${"x".repeat(5_000)}`, `/${"x".repeat(100)}`],
  ["no address", "http://[", "elsewhere"],
])("a server that redirects to %s has its contributor read where it really is", async (_, location, said) => {
  const server = await kept(startServer((_request, response) => response.writeHead(307, { location }).end()));
  const outcome = await client().connect(server.url).listTools();
  expect(outcome).toMatchObject({ kind: "infrastructure", reason: "redirected", status: 307 });
  const { message } = outcome as { message: string };
  expect(message).toContain(`redirects to ${said.startsWith("/") ? new URL(said, server.url).href : said}`);
  expect(message).toContain("register the final address");
  expect(message.length).toBeLessThan(400);
  expect(message).not.toContain("key=1");
});

it("a server that says 429 is asked more slowly", async () => {
  const server = await kept(startRawMcpServer((_message, response) => sendJson(response, { error: "slow down" }, 429)));
  const tool = client().connect(server.url);
  stopTime();
  expect(await tool.callTool("busy", {})).toMatchObject({ kind: "infrastructure", reason: "rateLimited", status: 429 });
  // The next one must wait for half a second, which is longer than it has.
  const late = tool.callTool("busy", {}, { timeoutMs: 100 });
  await vi.advanceTimersByTimeAsync(100);
  expect(await late).toEqual({ kind: "timedOut", afterMs: 100, sent: false });
});

it("a server that is down is left alone, until it is there when it is asked, and no call is the one that asks", async () => {
  let isDown = true;
  const called: unknown[] = [];
  const server = await kept(
    startServer(async (request, response) => {
      const message = await readMessage(request);
      if (message.method === "tools/call") called.push(message.params?.name);
      if (isDown) return sendJson(response, { error: "out of order" }, 503);
      if (message.id === undefined) return void response.writeHead(202).end();
      const protocolVersion = message.params?.protocolVersion;
      const shaken = { protocolVersion, capabilities: {}, serverInfo: { name: "raw", version: "1" } };
      sendJson(response, resultOf(message, message.method === "initialize" ? shaken : textResult("up")));
    }),
  );
  const tool = client().connect(server.url);
  const open = { kind: "infrastructure", reason: "circuitOpen", sent: false };
  stopTime();
  for (let i = 0; i < 5; i++) expect(await tool.callTool("down", {})).toMatchObject({ reason: "httpStatus" });
  expect(await tool.callTool("down", {})).toMatchObject(open);
  const requests = server.requests();
  expect(await tool.callTool("down", {})).toMatchObject(open);
  expect(server.requests()).toBe(requests);
  isDown = false;
  vi.advanceTimersByTime(5_000);
  expect(await tool.callTool("up", {})).toMatchObject({ kind: "answered", result: "up" });
  expect(called).toEqual(["up"]);
});

it("arguments that make a tool fail as if it were down, or hang, lock it for nobody else", async () => {
  const server = await kept(
    startRawMcpServer((message, response) => {
      const how = argumentIn(message, "how");
      if (how === "fail") sendJson(response, { error: "boom" }, 500);
      if (how === "cut") response.destroy();
      if (how === "fine") sendJson(response, resultOf(message, textResult("fine")));
      if (how === "hang") vi.advanceTimersByTime(100);
    }),
  );
  const tool = client().connect(server.url);
  stopTime();
  for (const how of ["fail", "cut", "hang"]) {
    for (let i = 0; i < 6; i++) {
      await tool.callTool("quote", { how }, { account: "evil", timeoutMs: 100 });
      vi.advanceTimersByTime(60_000);
    }
    const honest = tool.callTool("quote", { how: "fine" }, { account: "honest" });
    expect(await honest).toMatchObject({ kind: "answered", result: "fine" });
  }
});

it("a tool that repeats what it was asked in its errors is slowed by nobody's words, and by nobody alone", async () => {
  const server = await kept(
    startRawMcpServer((message, response) => {
      const city = argumentIn(message, "city");
      const said =
        city === "Berlin" ? textResult("12") : { ...textResult(`no such city: ${atob(city)}`), isError: true };
      sendJson(response, resultOf(message, said));
    }),
  );
  const tool = client().connect(server.url);
  const ask = (city: string, account: string) => tool.callTool("weather", { city }, { account, timeoutMs: 1_000 });
  stopTime();
  const hidden = btoa("rate limit");
  // Written so that its arguments do not show it, it is taken for the tool's word, and slows whoever it was said to.
  expect(await ask(hidden, "one")).toMatchObject({ kind: "toolFailed" });
  for (let i = 0; i < 3; i++) expect(await ask("Berlin", "honest")).toMatchObject({ kind: "answered", result: 12 });
  const own = tool.callTool("weather", { city: "Berlin" }, { account: "one", timeoutMs: 100 });
  await vi.advanceTimersByTimeAsync(100);
  expect(await own).toEqual({ kind: "timedOut", afterMs: 100, sent: false });
});

it("words of a rate limit that stand in the arguments are the caller's", async () => {
  const server = await kept(
    startRawMcpServer((message, response) => {
      const city = argumentIn(message, "city");
      sendJson(response, resultOf(message, { ...textResult(`input_value='${city}'`), isError: true }));
    }),
  );
  const tool = client().connect(server.url);
  stopTime();
  for (const account of ["one", "two", "three", "one", "two"]) {
    expect(await tool.callTool("weather", { city: "Rate Limit" }, { account })).toMatchObject({ kind: "toolFailed" });
  }
});

it("no caller's slow, huge or cancelled calls lock a tool for others", async () => {
  const server = await kept(
    startRawMcpServer((message, response) => {
      const name = message.params?.name;
      if (name === "huge") sendJson(response, resultOf(message, textResult("x".repeat(5_000))));
      if (name === "fine") sendJson(response, resultOf(message, textResult("fine")));
    }),
  );
  const tool = client({ maxAnswerBytes: 1_000 }).connect(server.url);
  for (let i = 0; i < 6; i++) {
    const signal = AbortSignal.timeout(10);
    expect((await tool.callTool(`hang${i}`, {}, { timeoutMs: 10 })).kind).toBe("timedOut");
    expect((await tool.callTool("cancelled", {}, { signal })).kind).toBe("cancelled");
    expect((await tool.callTool("huge", {})).kind).toBe("infrastructure");
  }
  expect(await tool.callTool("fine", {})).toMatchObject({ kind: "answered", result: "fine" });
});

it("a handshake is no answer", async () => {
  const structuredContent = { _meta: { handshakeAction: { _action: "auth_required", provider: "x" } } };
  const server = await kept(
    startRawMcpServer((message, response) => sendJson(response, resultOf(message, { content: [], structuredContent }))),
  );
  const outcome = await client().connect(server.url).callTool("order", {});
  expect(outcome).toMatchObject({ kind: "handshakeRequired", action: { _action: "auth_required" } });
});

it("a server that changes its methods while calls run is called as it is now", async () => {
  let methods = ["old"];
  const create = () => {
    const server = new McpServer({ name: "changing", version: "1" });
    for (const name of methods) server.registerTool(name, {}, () => ({ content: [{ type: "text", text: name }] }));
    return server;
  };
  const server = await kept(startMcpServer(create));
  const tool = client().connect(server.url);
  expect(await tool.callTool("old", {})).toMatchObject({ kind: "answered", result: "old" });
  methods = ["new"];
  expect(await tool.callTool("old", {})).toMatchObject({ kind: "toolFailed", message: expect.stringContaining("old") });
  expect(await tool.callTool("new", {})).toMatchObject({ kind: "answered", result: "new" });
});

it("a call that runs when the client is closed is told so in our words, not in the tool's", async () => {
  const called = Promise.withResolvers<void>();
  const server = await kept(startRawMcpServer(() => called.resolve()));
  const closing = createMcpClient({ policy: "development" });
  const outcome = closing.connect(server.url).callTool("hang", {});
  await called.promise;
  await closing.close();
  expect(await outcome).toMatchObject({ kind: "infrastructure", reason: "disconnected", sent: true });
});

it("a request that cannot be signed is our failure, and says nothing about the tool", async () => {
  const server = await kept(
    startRawMcpServer((message, response) => sendJson(response, resultOf(message, textResult("fine")))),
  );
  const tool = client().connect(server.url);
  const token = () => Promise.reject(new Error("the keys are gone"));
  for (let i = 0; i < 6; i++) await expect(tool.callTool("quote", {}, { token })).rejects.toThrow("the keys are gone");
  expect(await tool.callTool("quote", {})).toMatchObject({ kind: "answered", result: "fine" });
});

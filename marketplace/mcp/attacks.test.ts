import type { LookupAddress } from "node:dns";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMcpClient, type McpClientOptions } from "./createMcpClient.ts";
import type { CallOutcome } from "./outcome.ts";
import {
  type Answer,
  type Message,
  readMessage,
  resultOf,
  sendJson,
  startRawMcpServer,
  startServer,
  type TestServer,
  textResult,
} from "./testing/startServer.ts";

const PATIENCE = { timeout: 120_000, interval: 20 };

// A tool that somebody has written in order to hurt the marketplace, its buyers, or the network that it stands in.
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function kept(server: Promise<TestServer>): Promise<TestServer> {
  const started = await server;
  ends.push(() => started.close());
  return started;
}

function connect(endpoint: string, options: Partial<McpClientOptions> = {}) {
  const client = createMcpClient({ policy: "development", ...options });
  ends.push(() => client.close());
  return client.connect(endpoint);
}

// Calls a server that shakes hands nicely and then answers like this.
async function callAnsweredBy(answer: Answer, options: Partial<McpClientOptions> = {}) {
  const server = await kept(startRawMcpServer(answer));
  const tool = connect(server.url, options);
  return { server, tool, outcome: await tool.callTool("poison", {}) };
}

// One that writes its own HTTP, because Node's server is too honest.
async function startTcpServer(answer: (socket: Socket, message: Message) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString();
      const [, body] = received.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
      if (body === undefined || body.length < length) return;
      received = "";
      const message = JSON.parse(body) as Message;
      if (message.id === undefined) socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
      else if (message.method === "initialize") {
        const protocolVersion = message.params?.protocolVersion;
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: "raw", version: "1" } };
        socket.write(httpJson(JSON.stringify(resultOf(message, result))));
      } else answer(socket, message);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const httpJson = (body: string, length = Buffer.byteLength(body)) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;

const startStream = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const event = (message: unknown) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const failed = (reason: string, sent = true) => ({ kind: "infrastructure", reason, sent });

describe("a tool that wants into our network", () => {
  const loopback: LookupAddress = { address: "127.0.0.1", family: 4 };
  const metadata: LookupAddress = { address: "169.254.169.254", family: 4 };

  it("answers the name server differently the second time, and is refused then", async () => {
    let asked = 0;
    let rebound = false;
    const resolve = async () => {
      asked++;
      return [rebound ? metadata : loopback];
    };
    const answer: Answer = (message, response) => sendJson(response, resultOf(message, textResult("first")));
    const server = await kept(startRawMcpServer(answer, { requestsPerConnection: 1 }));
    const tool = connect(`http://tool.localhost:${server.port}/mcp`, { resolve });
    expect(await tool.callTool("poison", {})).toMatchObject({ kind: "answered", result: "first" });
    // Nothing resolves a name again after it was checked: as many questions as connections.
    expect(asked).toBe(server.connections());
    rebound = true;
    const outcome = await tool.callTool("poison", {});
    expect(outcome).toMatchObject(failed("forbiddenEndpoint", false));
    // It is not told where its name leads from here.
    expect(JSON.stringify(outcome)).not.toContain("169.254");
  });

  it("hides a private address among public ones", async () => {
    const resolve = async () => [{ address: "93.184.216.34", family: 4 }, metadata];
    const outcome = await connect("https://tool.example/mcp", { policy: "public", resolve }).listTools();
    expect(outcome).toMatchObject(failed("forbiddenEndpoint", false));
  });

  it.each(["::ffff:127.0.0.1", "64:ff9b::7f00:1", "::1", "fd00:ec2::254", "0.0.0.0"])(
    "has a name that leads to %s",
    async (address) => {
      const resolve = async () => [{ address, family: address.includes(":") ? 6 : 4 }];
      const outcome = await connect("https://tool.example/mcp", { policy: "public", resolve }).listTools();
      expect(outcome).toMatchObject(failed("forbiddenEndpoint", false));
    },
  );

  it("has a name that leads nowhere", async () => {
    const tool = connect("https://tool.example/mcp", { resolve: async () => [] });
    expect(await tool.callTool("poison", {})).toMatchObject(failed("unreachable", false));
  });

  it.each([301, 302, 303, 307, 308])(
    "redirects (%i) to an address of ours, which hears nothing of it",
    async (status) => {
      const ours = await kept(startServer((_request, response) => response.end("secret")));
      const { outcome } = await callAnsweredBy((_message, response) => {
        response.writeHead(status, { location: ours.url }).end();
      });
      expect(outcome).toMatchObject({ ...failed("redirected"), status });
      expect(ours.requests()).toBe(0);
    },
  );

  it("is an SSE server that wants its messages elsewhere", async () => {
    const ours = await kept(startServer((_request, response) => response.end()));
    const server = await kept(
      startServer((request, response) => {
        if (request.method !== "GET") return void response.writeHead(405).end();
        startStream(response).write(`event: endpoint\ndata: ${ours.url}\n\n`);
      }),
    );
    expect(await connect(`${server.url}/sse`).callTool("poison", {})).toMatchObject(failed("forbiddenEndpoint", false));
    expect(ours.requests()).toBe(0);
  });
});

describe("a tool that wants our memory", () => {
  const maxAnswerBytes = 100_000;

  it("sends headers without end", async () => {
    const { outcome } = await callAnsweredBy((_message, response) => {
      response.setHeader("x-large", "x".repeat(64_000)).end();
    });
    expect(outcome).toMatchObject(failed("tooLarge"));
  });

  it("sends a gigabyte in a kilobyte", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const { outcome } = await callAnsweredBy((_message, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
    });
    expect(outcome).toMatchObject({ ...failed("malformed"), message: expect.stringContaining("gzip") });
  });

  it("sends more than is read", async () => {
    const answer: Answer = (message, response) => {
      sendJson(response, resultOf(message, textResult("x".repeat(2 * maxAnswerBytes))));
    };
    expect((await callAnsweredBy(answer, { maxAnswerBytes })).outcome).toMatchObject(failed("tooLarge"));
  });

  it("streams comments without end", async () => {
    const { outcome } = await callAnsweredBy(
      (_message, response) => {
        startStream(response);
        const more = () => {
          while (!response.destroyed && response.write(`: ${"x".repeat(1_000)}\n\n`));
        };
        response.on("drain", more);
        more();
      },
      { maxAnswerBytes },
    );
    expect(outcome).toMatchObject(failed("tooLarge"));
  });

  it("goes on streaming after its answer, and is hung up on", async () => {
    const hungUp = Promise.withResolvers<void>();
    const { outcome } = await callAnsweredBy((message, response) => {
      startStream(response).write(event(resultOf(message, textResult("done"))));
      response.on("close", hungUp.resolve);
    });
    expect(outcome).toMatchObject({ kind: "answered", result: "done" });
    await hungUp.promise;
  });

  it("puts more values into an answer than anybody can go through", async () => {
    const body = (id: unknown) =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":[${"{},".repeat(1_000_000)}1]}}}`;
    const { outcome } = await callAnsweredBy((message, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body(message.id));
    });
    expect(outcome).toMatchObject({ kind: "infrastructure", reason: "tooLarge", sent: true });
  });

  it("has a few large answers read at a time, and the others wait where they are; small ones do not", async () => {
    // More than the sockets in between take.
    const large = `{"result":{"content":[],"pad":"${"x".repeat(15_000_000)}"}`;
    const read: (() => void)[] = [];
    const server = await kept(
      startRawMcpServer((message, response) => {
        if (message.params?.name === "small") return sendJson(response, resultOf(message, textResult("small")));
        response.writeHead(200, { "content-type": "application/json" });
        response.write(large, () => {
          read.push(() => response.end(`,"jsonrpc":"2.0","id":${message.id}}`));
        });
      }),
    );
    const tool = connect(server.url);
    const calls = Promise.all(Array.from({ length: 6 }, () => tool.callTool("large", {})));
    await vi.waitFor(() => expect(read).toHaveLength(4), PATIENCE);
    expect(await tool.callTool("small", {})).toMatchObject({ kind: "answered", result: "small" });
    expect(read).toHaveLength(4);
    for (const end of read.splice(0)) end();
    await vi.waitFor(() => expect(read).toHaveLength(2), PATIENCE);
    for (const end of read) end();
    expect((await calls).map(({ kind }) => kind)).toEqual(Array(6).fill("answered"));
  });

  // Four servers with four answers each: all the places that there are.
  const LARGE = "x".repeat(2_000_000);
  it.each(["mcp", "sse"])(
    "holds every place for large answers by dripping, until somebody waits for one (%s)",
    async (kind) => {
      const begun: ServerResponse[] = [];
      const dripping: Answer = (_message, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(LARGE, () => begun.push(response));
      };
      const streaming = () =>
        startServer(async (request, response) => {
          if (request.method === "GET") {
            startStream(response).write("event: endpoint\ndata: /messages\n\n");
            streams.set(request.socket.localPort, response);
            return;
          }
          const message = await readMessage(request);
          response.writeHead(202).end();
          const stream = streams.get(request.socket.localPort);
          if (stream === undefined || message.id === undefined) return;
          const { protocolVersion } = message.params ?? {};
          const shaken = { protocolVersion, capabilities: {}, serverInfo: { name: "old", version: "1" } };
          if (message.method === "initialize") stream.write(event(resultOf(message, shaken)));
          else stream.write(`data: ${LARGE}`, () => begun.push(stream));
        });
      const streams = new Map<number | undefined, ServerResponse>();
      // A stream has one answer at a time.
      const [servers, each] = kind === "sse" ? [16, 1] : [4, 4];
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      ends.push(async () => void vi.useRealTimers());
      const client = createMcpClient({ policy: "development" });
      ends.push(() => client.close());
      const drips: Promise<CallOutcome>[] = [];
      for (let i = 0; i < servers; i++) {
        const server = await kept(kind === "sse" ? streaming() : startRawMcpServer(dripping));
        const tool = client.connect(kind === "sse" ? `${server.url}/sse` : server.url);
        for (let j = 0; j < each; j++) drips.push(tool.callTool("drip", {}));
      }
      await vi.waitFor(() => expect(begun).toHaveLength(16), PATIENCE);
      // Nobody waits, so nobody is hurried.
      vi.advanceTimersByTime(20_000);
      const honest = await kept(
        startRawMcpServer((message, response) => sendJson(response, resultOf(message, textResult(LARGE)))),
      );
      let slow: CallOutcome | undefined;
      void Promise.race(drips).then((ended) => {
        slow = ended;
      });
      // What a socket holds is not read yet, and has no place: whoever comes too early is answered without anybody being hurried.
      while (slow === undefined) {
        let outcome: CallOutcome | undefined;
        void client
          .connect(honest.url)
          .callTool("large", {})
          .then((answered) => {
            outcome = answered;
          });
        await vi.waitFor(() => {
          vi.advanceTimersByTime(5_000);
          expect(outcome?.kind).toBe("answered");
        }, PATIENCE);
      }
      expect(slow).toMatchObject({
        ...failed("tooLarge"),
        message: expect.stringContaining("too slowly while others wait"),
      });
    },
  );

  it("makes one event of a shared stream larger than an answer may be", async () => {
    const server = await kept(
      startServer((request, response) => {
        if (request.method !== "GET") return void response.writeHead(404).end();
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`event: endpoint\ndata: /messages\n\ndata: ${"x".repeat(300_000)}`);
      }),
    );
    const outcome = await connect(`${server.url}/sse`, { maxAnswerBytes: 100_000 }).callTool("poison", {});
    expect(outcome).toMatchObject({ kind: "infrastructure", sent: false });
  });

  it("nests an answer a hundred thousand levels deep", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const bodyOf = ({ id }: Message) =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${deep}}}}`;
    const { outcome } = await callAnsweredBy((message, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(bodyOf(message));
    });
    expect(outcome).toMatchObject(failed("tooLarge"));
  });

  it("hides the depth in a text, which then stays a text", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const { outcome } = await callAnsweredBy((message, response) =>
      sendJson(response, resultOf(message, textResult(deep))),
    );
    expect(outcome).toMatchObject({ kind: "answered", result: deep });
  });

  it("lists methods on pages without end", async () => {
    const server = await kept(
      startRawMcpServer((message, response) => {
        const tools = [{ name: "again", inputSchema: { type: "object" } }];
        sendJson(response, resultOf(message, { tools, nextCursor: "more" }));
      }),
    );
    expect(await connect(server.url).listTools()).toMatchObject(failed("tooLarge"));
    expect(server.requests()).toBeLessThan(30);
  });

  it("asks us for samples a thousand times, and gets no request for it", async () => {
    const { outcome, server } = await callAnsweredBy((message, response) => {
      startStream(response);
      for (let id = 0; id < 1_000; id++)
        response.write(event({ jsonrpc: "2.0", id, method: "sampling/createMessage", params: {} }));
      response.end(event(resultOf(message, textResult("done"))));
    });
    expect(outcome).toMatchObject({ kind: "answered" });
    expect(server.requests()).toBe(3);
  });
});

describe("a tool that wants our time", () => {
  const callTimeoutMs = 400;
  const timedOut = { kind: "timedOut", afterMs: callTimeoutMs, sent: true };

  it.each(["header", "body", "event"])("drips its %s, a byte at a time", async (part) => {
    const url = await startTcpServer((socket) => {
      if (part === "header") socket.write("HTTP/1.1 200 OK\r\nx-slow: ");
      if (part === "body")
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n");
      if (part === "event") socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ");
      const drip = setInterval(() => socket.write("x"), 5);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await connect(url, { callTimeoutMs }).callTool("poison", {})).toEqual(timedOut);
  });

  it("says 100 Continue and never goes on", async () => {
    const url = await startTcpServer((socket) => {
      const drip = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 5);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await connect(url, { callTimeoutMs }).callTool("poison", {})).toEqual(timedOut);
  });

  it("never shakes hands", async () => {
    const server = await kept(startServer(() => undefined));
    const outcome = await connect(server.url, { callTimeoutMs }).callTool("poison", {});
    expect(outcome).toEqual({ ...timedOut, sent: false });
  });

  it("wants to be asked again at once, without end, and is asked once", async () => {
    const { outcome, server } = await callAnsweredBy((_message, response) => {
      startStream(response).end("id: 1\nretry: 0\n\n");
    });
    expect(outcome).toMatchObject(failed("malformed"));
    expect(server.requests()).toBe(3);
  });
});

describe("a tool that lies", () => {
  it.each([
    ["another id", 999],
    ["the id as a text", "1"],
    ["no id", null],
  ])("answers under %s", async (_what, id) => {
    const body = { jsonrpc: "2.0", id, result: textResult("mine") };
    const json = await callAnsweredBy((_message, response) => sendJson(response, body));
    expect(json.outcome).toMatchObject(failed("malformed"));
    const stream = await callAnsweredBy((_message, response) => void startStream(response).end(event(body)));
    expect(stream.outcome).toMatchObject(failed("malformed"));
  });

  it("answers the calls of others, which does not reach them", async () => {
    const held: { message: Message; response: ServerResponse }[] = [];
    const server = await kept(
      startRawMcpServer((message, response) => {
        held.push({ message, response });
        if (held.length < 2) return;
        const [first, second] = held;
        if (first === undefined || second === undefined) return;
        sendJson(first.response, resultOf(second.message, textResult("swapped")));
        sendJson(second.response, resultOf(first.message, textResult("swapped")));
      }),
    );
    const tool = connect(server.url);
    const outcomes = await Promise.all([tool.callTool("a", {}), tool.callTool("b", {})]);
    for (const outcome of outcomes) expect(outcome).toMatchObject(failed("malformed"));
  });

  it.each([
    ["promises more bytes than it sends", 50, "disconnected"],
    ["promises fewer bytes than it sends", -20, "malformed"],
  ])("%s", async (_what, more, reason) => {
    const url = await startTcpServer((socket, message) => {
      const body = JSON.stringify(resultOf(message, textResult("done")));
      socket.end(httpJson(body, body.length + more));
    });
    expect(await connect(url).callTool("poison", {})).toMatchObject(failed(reason));
  });

  it("hangs up before, in and after its headers", async () => {
    for (const start of ["", "HTTP/1.1 200 OK\r\ncont", "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"]) {
      const url = await startTcpServer((socket) => (start === "" ? socket.destroy() : socket.end(start)));
      const outcome = await connect(url).callTool("poison", {});
      expect(outcome, start).toMatchObject({ kind: "infrastructure", sent: true });
      expect(outcome.kind === "infrastructure" && ["disconnected", "malformed"].includes(outcome.reason), start).toBe(
        true,
      );
    }
  });

  it("speaks no HTTP", async () => {
    const url = await startTcpServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
    expect(await connect(url).callTool("poison", {})).toMatchObject(failed("malformed"));
  });

  it.each([
    ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ["no JSON", Buffer.from("<html>")],
    ["nothing", Buffer.alloc(0)],
    ["a JSON text that is no message", Buffer.from("42")],
  ])("answers %s", async (_what, body) => {
    const { outcome } = await callAnsweredBy((_message, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
    expect(outcome).toMatchObject(failed("malformed"));
  });

  it.each([202, 204, 200])("answers %i without a body", async (status) => {
    const { outcome } = await callAnsweredBy((_message, response) => void response.writeHead(status).end());
    expect(outcome).toMatchObject(failed("malformed"));
  });

  it.each([
    ["plainly", "__proto__"],
    ["in escapes", "\\u005f_proto__"],
  ])("sends a prototype as a field, %s", async (_how, key) => {
    const result = `{"content":[],"structuredContent":{"a":{"${key}":{"admin":true}}}}`;
    const { outcome } = await callAnsweredBy((message, response) => {
      const body = `{"jsonrpc":"2.0","id":${message.id},"result":${result}}`;
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
    expect(outcome).toMatchObject(failed("malformed"));
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it.each(["1e999", "[1,-1e999]", '{"a":{"b":[1e999]}}'])("answers %s, which becomes no number", async (written) => {
    const { outcome } = await callAnsweredBy((message, response) => {
      const body = `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":{"value":${written}}}}`;
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
    expect(outcome).toMatchObject(failed("malformed"));
  });

  it.each(['{"__proto__":{"admin":true}}', "1e999", '{"value":1e999}'])(
    "smuggles %s in a text, which then stays a text",
    async (text) => {
      const { outcome } = await callAnsweredBy((message, response) =>
        sendJson(response, resultOf(message, textResult(text))),
      );
      expect(outcome).toMatchObject({ kind: "answered", result: text });
    },
  );

  it.each([
    ["content that is no list", { content: "text" }],
    ["a block without a type", { content: [{ text: "x" }] }],
    ["isError that is no boolean", { content: [], isError: "false" }],
    ["a result that is no object", []],
  ])("answers %s", async (_what, result) => {
    const { outcome } = await callAnsweredBy((message, response) => sendJson(response, resultOf(message, result)));
    expect(outcome).toMatchObject(failed("malformed"));
  });

  it("speaks a version of MCP that does not exist", async () => {
    const server = await kept(
      startServer((_request, response) => {
        const result = { protocolVersion: "1999-01-01", capabilities: {}, serverInfo: { name: "old", version: "1" } };
        sendJson(response, { jsonrpc: "2.0", id: 0, result });
      }),
    );
    expect(await connect(server.url).callTool("poison", {})).toMatchObject(failed("malformed", false));
  });

  it("gives a session a name that would be two headers", async () => {
    const url = await startTcpServer((socket, message) => {
      const body = JSON.stringify(resultOf(message, textResult("done")));
      socket.write(httpJson(body).replace("content-type", `mcp-session-id: ${"a b\t".repeat(99)}\r\ncontent-type`));
    });
    const tool = connect(url);
    expect(await tool.callTool("poison", {})).toMatchObject({ kind: "answered" });
    expect(await tool.callTool("poison", {})).toMatchObject({ kind: "answered" });
  });
});

describe("a tool that speaks the older transport, and misuses its stream", () => {
  type Hear = (message: Message, stream: ServerResponse) => void;

  // Shakes hands nicely, and then does with its stream what a test wants.
  async function startSseServer(hear: Hear, { hello = true } = {}): Promise<TestServer> {
    let stream: ServerResponse | undefined;
    return kept(
      startServer(async (request, response) => {
        if (request.method === "GET") {
          stream = startStream(response);
          stream.write(hello ? "event: endpoint\ndata: /messages\n\n" : ": wait\n\n");
          return;
        }
        const message = await readMessage(request);
        response.writeHead(202).end();
        if (stream === undefined || message.id === undefined) return;
        if (message.method !== "initialize") return hear(message, stream);
        const protocolVersion = message.params?.protocolVersion;
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: "old", version: "1" } };
        stream.write(event(resultOf(message, result)));
      }),
    );
  }

  it("ends it instead of answering: whoever waits hears so, and the next call begins again", async () => {
    let honest = false;
    const server = await startSseServer((message, stream) => {
      if (honest) stream.write(event(resultOf(message, textResult("done"))));
      else stream.end();
    });
    const tool = connect(`${server.url}/sse`);
    expect(await tool.callTool("poison", {})).toMatchObject(failed("disconnected"));
    honest = true;
    expect(await tool.callTool("poison", {})).toMatchObject({ kind: "answered", result: "done" });
  });

  it("never says where it wants its messages", async () => {
    const server = await startSseServer(() => undefined, { hello: false });
    const outcome = await connect(`${server.url}/sse`, { callTimeoutMs: 300 }).callTool("poison", {});
    expect(outcome).toEqual({ kind: "timedOut", afterMs: 300, sent: false });
  });

  it("answers calls that nobody has made", async () => {
    const server = await startSseServer((_message, stream) => {
      for (let id = 100; id < 200; id++) stream.write(event({ jsonrpc: "2.0", id, result: textResult("mine") }));
    });
    const outcome = await connect(`${server.url}/sse`, { callTimeoutMs: 300 }).callTool("poison", {});
    expect(outcome).toMatchObject({ kind: "timedOut" });
  });

  it.each([
    ["no JSON", "data: {\n\n", "malformed"],
    ["more than is read", `: ${"x".repeat(50_000)}\n\n`, "tooLarge"],
  ])("sends %s", async (_what, text, reason) => {
    const server = await startSseServer((_message, stream) => void stream.write(text));
    const outcome = await connect(`${server.url}/sse`, { maxAnswerBytes: 2_000 }).callTool("poison", {});
    expect(outcome).toMatchObject(failed(reason));
  });
});

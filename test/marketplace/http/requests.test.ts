import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { backends, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "../openMarketplace.ts";
import { startTool, structured, type ToolServer } from "../startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const EXECUTE = "/api/v1/tools/execute";
const LARGE = 40_000;

describe("requests that are not answered yet", () => {
  const { create } = backends[0] ?? { create: () => Promise.reject(new Error("there is no database")) };
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  let toolId: string;
  let release = Promise.withResolvers<void>();
  const sockets: Socket[] = [];

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    const requests = { maxBytes: 250_000, maxBytesOfReader: 100_000, maxBodyBytes: 90_000 };
    market = await openMarketplace(database, { daemonUrl: daemon.url, requests });
    server = await startTool({ call: () => structured({ value: 1 }) });
    const owner = newWallet();
    toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address));
    const described = { toolId, endpoint: server.url, name: "Slow", description: "Slow answers" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
    server.tool.call = async () => {
      await release.promise;
      return structured({ value: 1 });
    };
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await market?.close();
    await server?.close();
    await daemon?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function buyer() {
    const key = await makeKey(market.ask, newWallet());
    const body = (bytes: number) => ({ toolId, toolName: "get_gas_prices", args: { padding: "x".repeat(bytes) } });
    const ask = (bytes: number) => market.ask("POST", EXECUTE, body(bytes), key);
    // Asks the MCP front, with progress. What it answers begins before the tool has answered.
    async function stream(bytes: number): Promise<Response> {
      return fetch(`${await market.listen()}/api/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "context_execute", arguments: body(bytes), _meta: { progressToken: 1 } },
        }),
      });
    }
    // Sends all of it, and hangs up as soon as the tool was called.
    async function leave(): Promise<void> {
      const { port } = new URL(await market.listen());
      const [text, calls] = [JSON.stringify(body(LARGE)), server.state.calls];
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `POST ${EXECUTE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
          `Idempotency-Key: ${randomUUID()}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      await until("the call", () => server.state.calls > calls);
      socket.destroy();
    }
    // Sends so many on one connection, none of which waits for the answer to the one before.
    async function sendAll(count: number): Promise<Socket> {
      const { port } = new URL(await market.listen());
      const text = JSON.stringify(body(10));
      const socket = connect(Number(port), "127.0.0.1");
      sockets.push(socket);
      const one = `POST ${EXECUTE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
      socket.write(one.repeat(count));
      return socket;
    }
    // Says how much it will send, or that it does not know, and sends nothing of it.
    async function begin(headers: string): Promise<Socket> {
      const { port } = new URL(await market.listen());
      const socket = connect(Number(port), "127.0.0.1");
      sockets.push(socket);
      socket.write(
        `POST ${EXECUTE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${headers.startsWith("Transfer") ? "1\r\n{\r\n" : "{"}`,
      );
      return socket;
    }
    return { ask, stream, begin, leave, sendAll };
  }
  const refused = {
    status: 503,
    body: { code: "unavailable", error: expect.stringMatching(/what you have sent is still worked on/) },
    headers: { "retry-after": "1" },
  };

  it("have a share of the room for what was sent, and whoever has more in it than that calls nobody", async () => {
    release = Promise.withResolvers<void>();
    const [hasty, other] = [await buyer(), await buyer()];
    const before = server.state.calls;
    const asked = [hasty.ask(LARGE), hasty.ask(LARGE)];
    await until("two calls", () => server.state.calls - before === 2);
    expect(await hasty.ask(LARGE)).toMatchObject(refused);
    expect(server.state.calls - before).toBe(2);
    // What is short is let in, and so is everybody else.
    asked.push(hasty.ask(10), other.ask(LARGE));
    await until("two more calls", () => server.state.calls - before === 4);
    release.resolve();
    for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
    expect((await hasty.ask(LARGE)).status).toBe(200);
  });

  it("of those who hung up are counted for as long as they are worked on", async () => {
    release = Promise.withResolvers<void>();
    const gone = await buyer();
    await gone.leave();
    await gone.leave();
    expect(await gone.ask(LARGE)).toMatchObject(refused);
    release.resolve();
    await until("the calls to end", async () => (await gone.ask(LARGE)).status === 200);
  });

  it("are counted until all of a stream is sent, and not only until it begins", async () => {
    release = Promise.withResolvers<void>();
    const streamed = await buyer();
    const before = server.state.calls;
    const streams = [streamed.stream(LARGE), streamed.stream(LARGE)];
    await until("two calls", () => server.state.calls - before === 2);
    expect(await streamed.ask(LARGE)).toMatchObject(refused);
    release.resolve();
    for (const answer of await Promise.all(streams)) {
      expect(answer.headers.get("content-type")).toMatch(/event-stream/);
      expect(await answer.text()).toContain('"success":true');
    }
    await until("both to be forgotten", () => market.unanswered() === 0);
    expect((await streamed.ask(LARGE)).status).toBe(200);
  });

  it("are counted from their first byte, by what they say of themselves, until they are given up", async () => {
    release.resolve();
    const slow = await buyer();
    const length = `Content-Length: ${LARGE}`;
    for (const headers of [[length, length], ["Transfer-Encoding: chunked"]]) {
      const begun = await Promise.all(headers.map(slow.begin));
      await until("all to be counted", () => market.unanswered() >= 80_000);
      expect(await slow.ask(LARGE)).toMatchObject(refused);
      for (const socket of begun) socket.destroy();
      await until("all to be forgotten", () => market.unanswered() === 0);
      expect((await slow.ask(LARGE)).status).toBe(200);
    }
  });

  it("may come on one connection, which is listened to once, and all of them end with it", async () => {
    release = Promise.withResolvers<void>();
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on("warning", warned);
    try {
      const hasty = await buyer();
      const before = server.state.calls;
      const cancelled = () => server.state.notified.filter(({ method }) => method === "notifications/cancelled").length;
      const ended = cancelled();
      const socket = await hasty.sendAll(30);
      await until("all calls", () => server.state.calls - before === 30);
      socket.destroy();
      await until("all of them to be cancelled", () => cancelled() - ended === 30);
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", warned);
      release.resolve();
    }
  });

  it("have a bound together, above which each sender has one at a time", async () => {
    release = Promise.withResolvers<void>();
    const crowd = await Promise.all(Array.from({ length: 3 }, buyer));
    const before = server.state.calls;
    const asked = crowd.flatMap(({ ask }) => [ask(LARGE), ask(LARGE)]);
    await until("six calls", () => server.state.calls - before === 6);
    const [late] = [await buyer()];
    asked.push(late.ask(LARGE));
    await until("one more", () => server.state.calls - before === 7);
    expect(await late.ask(LARGE)).toMatchObject(refused);
    release.resolve();
    for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  });
});

import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { backends, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "../openMarketplace.ts";
import { startTool, structured, type ToolServer } from "../startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const EXECUTE = "/api/v1/tools/execute";
const MEGABYTE = 1_000_000;
const PRICE = 1_000n;
// More than all buffers between the two ends take.
const ANSWER = 15 * MEGABYTE;

describe("answers that nobody reads", () => {
  const { create } = backends[0] ?? { create: () => Promise.reject(new Error("there is no database")) };
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  let toolId: string;
  let release = Promise.withResolvers<void>();
  const sockets: Socket[] = [];

  async function open(bounds: { maxBytes?: number; stalledMs?: number } = {}) {
    const { maxBytes = 200 * MEGABYTE, stalledMs = 60_000 } = bounds;
    const deliveries = { maxBytes, maxBytesOfReader: 60 * MEGABYTE, maxAnswerBytes: 17 * MEGABYTE, stalledMs };
    market = await openMarketplace(database as Store, { daemonUrl: daemon.url, deliveries });
    await market.catalogue.follow();
  }

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    server = await startTool({ call: () => structured({ value: 1 }) });
    await open();
    const owner = newWallet();
    toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address));
    const described = { toolId, endpoint: server.url, name: "Large", description: "Large answers" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
    await market.close();
    server.tool.call = async () => {
      await release.promise;
      return { content: [], structuredContent: { value: 1, padding: "x".repeat(ANSWER) } };
    };
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await until("nothing to be unread", () => market.undelivered() === 0);
    await market.close();
    release = Promise.withResolvers<void>();
  });
  afterAll(async () => {
    await daemon?.close();
    await server?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function buyer() {
    const wallet = newWallet();
    const key = await makeKey(market.ask, wallet);
    const url = new URL(await market.listen());
    const order = { toolId, toolName: "get_gas_prices" };
    return {
      // Asks, and reads nothing of the answer but its beginning.
      ask(idempotencyKey: string | null = randomUUID(), path = EXECUTE, body: object = order) {
        const socket = connect(Number(url.port), url.hostname);
        sockets.push(socket);
        const text = JSON.stringify(body);
        const headers = [
          `POST ${path} HTTP/1.1`,
          "host: market",
          `authorization: Bearer ${key}`,
          "content-type: application/json",
          "accept: application/json, text/event-stream",
          `content-length: ${text.length}`,
          ...(idempotencyKey === null ? [] : [`idempotency-key: ${idempotencyKey}`]),
        ];
        socket.write(`${headers.join("\r\n")}\r\n\r\n${text}`);
        const state = { head: "", isCut: false, idempotencyKey };
        socket.once("readable", () => {
          state.head = String(socket.read(Math.min(socket.readableLength, 2_000)));
        });
        socket.once("close", () => {
          state.isCut = true;
        });
        socket.on("error", () => undefined);
        return { ...state, state, socket };
      },
      execute: (idempotencyKey?: string | null) =>
        market.ask("POST", EXECUTE, order, key, idempotencyKey ? { "idempotency-key": idempotencyKey } : {}),
      owed: async () => await daemon.exposure(wallet.address),
    };
  }

  it("are refused before another call is made for those who left so many, and nobody else", async () => {
    await open();
    release.resolve();
    const [slow, other] = [await buyer(), await buyer()];
    const before = server.state.calls;
    const first = slow.ask();
    const asked = [first, slow.ask(), slow.ask()];
    await until("three answers", () => asked.every(({ state }) => state.head.includes("200 OK")));
    const refused = await slow.execute();
    expect(refused).toMatchObject({ status: 503, body: { code: "unavailable" }, headers: { "retry-after": "5" } });
    expect(server.state.calls - before).toBe(3);
    expect(await slow.owed()).toEqual({ pending: 3n * PRICE, held: 0n });
    expect((await other.execute()).status).toBe(200);
    for (const { socket } of asked) socket.destroy();
    await until("nothing to be unread", () => market.undelivered() === 0);
    const again = await slow.execute(first.idempotencyKey);
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([200, "true"]);
    expect(await slow.owed()).toEqual({ pending: 3n * PRICE, held: 0n });
  });

  it("that come all at once take no more room than there is, and under a key each is had later, for one price", async () => {
    await open();
    const slow = await buyer();
    const before = server.state.calls;
    const asked = Array.from({ length: 6 }, () => slow.ask());
    await until("the calls", () => server.state.calls - before === 6);
    release.resolve();
    await until("six answers", () => asked.every(({ state }) => state.head !== ""));
    expect(market.undelivered()).toBeLessThanOrEqual(60 * MEGABYTE);
    const refused = asked.filter(({ state }) => state.head.includes("503"));
    expect(refused).toHaveLength(3);
    expect(refused[0]?.state.head.toLowerCase()).toContain("retry-after: 5");
    for (const { socket } of asked) socket.destroy();
    await until("nothing to be unread", () => market.undelivered() === 0);
    for (const { idempotencyKey } of refused) expect((await slow.execute(idempotencyKey)).status).toBe(200);
    expect(server.state.calls - before).toBe(6);
    expect(await slow.owed()).toEqual({ pending: 6n * PRICE, held: 0n });
  });

  it.each([
    ["by themselves", EXECUTE, 3],
    ["through the MCP front", "/api/mcp", 1],
  ])("cost nothing without a key if there is no room for them, asked for %s", async (_how, path, delivered) => {
    await open();
    const slow = await buyer();
    const before = server.state.calls;
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "context_execute", arguments: { toolId, toolName: "get_gas_prices" } },
    };
    const asked = Array.from({ length: 5 }, () => slow.ask(null, path, path === EXECUTE ? undefined : message));
    await until("the calls", () => server.state.calls - before === 5);
    release.resolve();
    await until("five answers", () => asked.every(({ state }) => state.head !== ""));
    expect(market.undelivered()).toBeLessThanOrEqual(60 * MEGABYTE);
    await until("what is not delivered to be given back", async () => (await slow.owed()).held === 0n);
    expect(await slow.owed()).toEqual({ pending: BigInt(delivered) * PRICE, held: 0n });
  });

  it("give way, those of whoever has left the most, when all together are too much", async () => {
    await open({ maxBytes: 50 * MEGABYTE });
    release.resolve();
    const [slow, other] = [await buyer(), await buyer()];
    const asked = [slow.ask(), slow.ask(), slow.ask()];
    await until("three answers", () => asked.every(({ state }) => state.head.includes("200 OK")));
    const theirs = other.ask();
    await until("another's answer", () => theirs.state.head.includes("200 OK"));
    expect(market.undelivered()).toBeLessThanOrEqual(50 * MEGABYTE);
    for (const { socket } of [...asked, theirs]) socket.resume();
    await until("one of the first to be cut off", () => asked.filter(({ state }) => state.isCut).length === 1);
    await until("the others to be read", () => market.undelivered() === 0);
    expect(theirs.state.isCut).toBe(false);
  });

  it("are given up, with their connection, when nothing of them is read for a while", async () => {
    await open({ stalledMs: 200 });
    release.resolve();
    const slow = await buyer();
    const { state } = slow.ask();
    await until("the answer", () => state.head.includes("200 OK"));
    await until("nothing to be unread", () => market.undelivered() === 0);
  });
});

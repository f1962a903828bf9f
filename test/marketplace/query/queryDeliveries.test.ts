import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { backends, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "../openMarketplace.ts";
import { startTool, structured, type ToolServer } from "../startTool.ts";
import { splitLines } from "../strictClient.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const PRICE = 50_000n;
const QUESTION = "What is the note of parcel number 7?";
const NOTE = "x".repeat(200_000);
const ROOMY = 10_000_000;
// Less than the answer.
const NARROW = 100_000;

describe("an answer for which there is no room until it is read", () => {
  const { create } = backends[0] ?? { create: () => Promise.reject(new Error("there is no database")) };
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  let buyer: ReturnType<typeof newWallet>;
  let key: string;
  const toolId = randomUUID();

  async function open(maxBytesOfReader: number) {
    const deliveries = { maxBytes: 2 * ROOMY, maxBytesOfReader, maxAnswerBytes: 1_000, stalledMs: 60_000 };
    market = await openMarketplace(database as Store, { daemonUrl: daemon.url, deliveries });
    await market.catalogue.follow();
  }

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    server = await startTool({
      methods: [
        {
          name: "note_of_parcel",
          description: "The note of a parcel, by its number.",
          inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
          outputSchema: { type: "object", properties: { note: { type: "string" } }, required: ["note"] },
        },
      ],
      call: () => structured({ note: "short" }),
    });
    await open(ROOMY);
    const owner = newWallet();
    market.onChain.set(toolId, standing(owner.address, { price: PRICE, stake: 1_000_000_000n }));
    const described = { toolId, endpoint: server.url, name: "Parcels", description: "Parcels on their way" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
    await market.close();
    server.tool.call = () => structured({ note: NOTE });
  });
  afterEach(() => market.close());
  afterAll(async () => {
    await daemon?.close();
    await server?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  const asking = async (room: number) => {
    await open(room);
    buyer = newWallet();
    key = await makeKey(market.ask, buyer);
  };
  const ask = (body: object, headers: Record<string, string> = {}) =>
    market.app.inject({
      method: "POST",
      url: "/api/v1/query",
      headers: { authorization: `Bearer ${key}`, ...headers },
      payload: { query: QUESTION, tools: [toolId], ...body },
    });
  const owed = () => daemon.exposure(buyer.address);
  const nothingOwed = async () => {
    await until("what was held to be given back", async () => (await owed()).held === 0n);
    expect((await owed()).pending).toBe(0n);
  };

  it("costs nothing as JSON without a key", async () => {
    await asking(NARROW);
    const reply = await ask({ stream: false });
    expect([reply.statusCode, reply.json().code]).toEqual([503, "unavailable"]);
    await nothingOwed();
  });

  it("costs nothing as a stream without a key, which ends with the reason", async () => {
    await asking(NARROW);
    const reply = await ask({ stream: true });
    expect(reply.statusCode).toBe(200);
    const events = splitLines(reply.payload).filter((line) => line.startsWith("data: {"));
    expect(JSON.parse(events.at(-1)?.slice("data: ".length) ?? "")).toMatchObject({
      type: "error",
      error: expect.stringContaining("Too many answers wait"),
    });
    await nothingOwed();
  });

  it("costs nothing through the MCP front without a key", async () => {
    await asking(NARROW);
    const reply = await market.app.inject({
      method: "POST",
      url: "/api/mcp",
      headers: { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" },
      payload: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "context_query", arguments: { question: QUESTION, toolIds: [toolId] } },
      },
    });
    expect(reply.json()).toMatchObject({ result: { isError: true } });
    await nothingOwed();
  });

  it("is had later under its key, for one price", async () => {
    await asking(NARROW);
    const headers = { "idempotency-key": randomUUID() };
    const refused = await ask({ stream: false }, headers);
    expect(refused.statusCode).toBe(503);
    const jobId = refused.headers["x-context-job-id"];
    await until("the turn to be recorded", async () => (await owed()).pending === PRICE);
    await market.close();
    await open(ROOMY);
    const again = await ask({ stream: false }, headers);
    expect([again.statusCode, again.headers["x-context-job-id"]]).toEqual([200, jobId]);
    const streamed = await ask({ stream: true }, { "idempotency-key": randomUUID() });
    expect(streamed.payload).toContain('"type":"done"');
    expect(server.state.calls).toBeGreaterThan(0);
    const looked = await market.ask("GET", `/api/v1/query/jobs/${jobId}`, undefined, key);
    expect(looked.body).toMatchObject({ status: "completed", result: { outcomeType: "answer" } });
    await until("two turns to be recorded", async () => (await owed()).pending === 2n * PRICE);
  });
});

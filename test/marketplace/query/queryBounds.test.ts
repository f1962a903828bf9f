import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { backends, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "../openMarketplace.ts";
import { startTool, structured, type ToolMethod, type ToolServer } from "../startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const QUESTION = "What is the weight of parcel number 7, and what is the postage of parcel number 7?";
const JOBS_EACH = 10;
const ACCOUNTS = 4;
// Of 10,000 numbers of one digit the text is short, and the values are not.
const NUMBERS = Array.from({ length: 10_000 }, (_, i) => i % 10);
const ANSWER_BYTES = 640_000;
const memory = { maxBytes: 8_000_000, maxBytesOfAccount: 3_000_000, maxBytesOfTurn: 1_000_000 };

const method = (name: string, description: string, output: string): ToolMethod => ({
  name,
  description,
  inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  outputSchema: { type: "object", properties: { [output]: { type: "number" } }, required: [output] },
});

const methods = [
  method("weigh_parcel", "The weight of a parcel in grams, by its number.", "weight"),
  method("postage_of_parcel", "The postage of a parcel in cents, by its number.", "postage"),
];

describe("questions", () => {
  const { create } = backends[0] ?? { create: () => Promise.reject(new Error("there is no database")) };
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  let toolId: string;

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    market = await openMarketplace(database, { daemonUrl: daemon.url, memory });
    server = await startTool({ methods, call: () => structured({ weight: 1, postage: 1 }) });
    toolId = await list(50_000n, "Parcels");
  });
  afterAll(async () => {
    await market?.close();
    await daemon?.close();
    await server?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function list(price: bigint, name: string, endpoint = server.url): Promise<string> {
    const [owner, toolId] = [newWallet(), randomUUID()];
    market.onChain.set(toolId, standing(owner.address, { price, stake: 1_000_000_000n }));
    const { body } = await register(market.ask, owner, { toolId, endpoint, name, description: "Parcels" });
    expect(body).toMatchObject({ listed: true });
    return toolId;
  }

  it("hold no more together than there is room for, no account more than its share, and nothing once they have ended", async () => {
    const released = Promise.withResolvers<void>();
    const peaks: number[] = [];
    let weighed = 0;
    server.tool.call = async ({ name }) => {
      if (name === "weigh_parcel") {
        weighed += 1;
        return structured({ weight: 420, numbers: NUMBERS });
      }
      // Every question holds its first answer while it waits for the second.
      await released.promise;
      return structured({ postage: 85 });
    };
    const asked: { key: string; jobId: unknown }[] = [];
    for (let account = 0; account < ACCOUNTS; account += 1) {
      const key = await makeKey(market.ask, newWallet());
      for (let i = 0; i < JOBS_EACH; i += 1) {
        const { status, body } = await market.ask(
          "POST",
          "/api/v1/query/jobs",
          { query: QUESTION, tools: [toolId] },
          key,
        );
        expect(status).toBe(202);
        asked.push({ key, jobId: body.jobId });
        peaks.push(market.query.heldBytes());
      }
    }
    await until("all of them to have one answer", () => weighed === ACCOUNTS * JOBS_EACH);
    await until("as much to be held as there may be", () => {
      peaks.push(market.query.heldBytes());
      return market.query.heldBytes() > memory.maxBytes - 2 * ANSWER_BYTES;
    });
    released.resolve();
    const refusals: string[] = [];
    for (const { key, jobId } of asked) {
      const { body } = await market.ask("GET", `/api/v1/query/jobs/${jobId}`, undefined, key);
      const { result } = body as {
        result: { confidence: { level: string }; grounding: { toolCallFailureSamples: { reason: string }[] } };
      };
      expect(body.status).toBe("completed");
      const [failure] = result.grounding.toolCallFailureSamples;
      if (failure !== undefined) {
        refusals.push(failure.reason);
        // What is not there is not passed over.
        expect(result.confidence.level).not.toBe("high");
      }
    }
    const held = ACCOUNTS * JOBS_EACH - refusals.length;
    expect(Math.max(...peaks)).toBeLessThanOrEqual(memory.maxBytes);
    expect(held * ANSWER_BYTES).toBeLessThanOrEqual(memory.maxBytes);
    expect(refusals.filter((reason) => reason.includes("of this account"))).not.toEqual([]);
    await until("everything to be given back", () => market.query.heldBytes() === 0);
  });

  it("that nobody pays for leave room to one that somebody does", async () => {
    const free = await startTool({ methods, call: () => structured({ weight: 1, postage: 1 }) });
    const freeId = await list(0n, "Free parcels", free.url);
    const released = Promise.withResolvers<void>();
    free.tool.call = async () => {
      await released.promise;
      return structured({ weight: 420 });
    };
    // Whoever lists it is called as well.
    free.state.calls = 0;
    server.tool.call = () => structured({ weight: 420 });
    const weigh = (number: number) => `What is the weight of parcel number ${number}?`;
    const jobs: { key: string; jobId: unknown }[] = [];
    try {
      for (let account = 0; account < 3; account += 1) {
        const key = await makeKey(market.ask, newWallet());
        for (let i = 0; i < 32; i += 1) {
          const asked = { query: weigh(100 + i), tools: [freeId] };
          jobs.push({ key, jobId: (await market.ask("POST", "/api/v1/query/jobs", asked, key)).body.jobId });
        }
      }
      await until("as many free ones as there may be", () => free.state.calls === 48);
      const key = await makeKey(market.ask, newWallet());
      const paid = await market.ask("POST", "/api/v1/query", { query: weigh(7), tools: [toolId] }, key);
      expect(paid).toMatchObject({ status: 200, body: { outcomeType: "answer" } });
    } finally {
      released.resolve();
    }
    for (const { key, jobId } of jobs) {
      expect((await market.ask("GET", `/api/v1/query/jobs/${jobId}`, undefined, key)).body.status).toBe("completed");
    }
    await free.close();
  });

  it("that this process works on are looked up once by whoever waits, others every now and then", async () => {
    const released = Promise.withResolvers<void>();
    server.tool.call = () => released.promise.then(() => structured({ weight: 420 }));
    const key = await makeKey(market.ask, newWallet());
    const asked = { query: "What is the weight of parcel number 7?", tools: [toolId] };
    const { body: mine } = await market.ask("POST", "/api/v1/query/jobs", asked, key);
    const theirs = randomUUID();
    // As if another process were at it.
    await market.store.alone((sql) =>
      sql.run(
        `INSERT INTO query_jobs (id, account, digest, session_id, root_id, mode, request, origin, status, holder, lapses_at,
           reserved, turn_attempts, created_at, updated_at)
         SELECT $1, account, digest, session_id, $1, mode, request, 'job', 'running', 'another', $3, 0, 0, created_at, updated_at
         FROM query_jobs WHERE id = $2`,
        [theirs, String(mine.jobId), 4_000_000_000_000],
      ),
    );
    const looks = new Map<unknown, number>();
    const { all } = market.store.read;
    const spied = vi.spyOn(market.store.read, "all").mockImplementation((sql, values) => {
      const [id] = values ?? [];
      looks.set(id, (looks.get(id) ?? 0) + 1);
      return all(sql, values);
    });
    try {
      const look = (jobId: unknown) => market.ask("GET", `/api/v1/query/jobs/${jobId}`, undefined, key);
      const [first] = [look(mine.jobId), look(theirs)];
      await until("another's to be looked at again and again", () => (looks.get(theirs) ?? 0) >= 4);
      expect(looks.get(mine.jobId)).toBeLessThanOrEqual(2);
      released.resolve();
      expect((await first)?.body).toMatchObject({ status: "completed" });
      await market.store.alone((sql) => sql.run("UPDATE query_jobs SET status = 'failed' WHERE id = $1", [theirs]));
    } finally {
      released.resolve();
      spied.mockRestore();
    }
  });

  it("are told so if one answer alone is more than a turn holds, and may cost nothing for it", async () => {
    server.tool.call = () => structured({ weight: 420, numbers: [...NUMBERS, ...NUMBERS] });
    const key = await makeKey(market.ask, newWallet());
    const reply = await market.ask(
      "POST",
      "/api/v1/query",
      { query: "What is the weight of parcel number 7?", tools: [toolId] },
      key,
    );
    expect(reply).toMatchObject({ status: 422, body: { error: expect.stringContaining("more than a turn can hold") } });
    await until("everything to be given back", () => market.query.heldBytes() === 0);
  });
});

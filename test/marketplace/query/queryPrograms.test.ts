import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startModel } from "../../../marketplace/query/models/testing/startModel.ts";
import { createClient } from "../../../scripts/client/createClient.ts";
import { makeApiKey, registerTool } from "../../../scripts/marketplace/asWallet.ts";
import { type MarketPrograms, startMarket, startMarketplaceProgram } from "../../../scripts/marketplace/startMarket.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { type FrontDoor, startFrontDoor } from "../startFrontDoor.ts";
import { startTool, structured, type ToolServer } from "../startTool.ts";
import { createStrictClient, type Question, type StrictEvent } from "../strictClient.ts";

const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";
const WEIGHT = "What is the weight of parcel number 7?";
// So few that a hundred questions at once are above it on every machine, and no more than can be waited for.
const REQUESTS_PER_SECOND = "40";

const METHODS = [
  {
    name: "weigh_parcel",
    description: "The weight of a parcel in grams, by its number, and who sent it.",
    inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
    outputSchema: {
      type: "object",
      properties: { weight: { type: "number" }, sender: { type: "string" } },
      required: ["weight"],
    },
    _meta: { pricing: { executeUsd: "0.001" }, latencyClass: "fast" },
  },
];

// Programs as in production: the marketplace, and the daemon behind a door that can be shut between them.
describe("questions to real programs", () => {
  const folder = mkdtempSync(join(DISKLESS, "query-programs-"));
  let world: LocalWorld;
  let [front, back]: FrontDoor[] = [];
  let market: MarketPrograms;
  let tool: ToolServer;
  let toolId: string;
  let key: string;
  let client: ReturnType<typeof createStrictClient>;
  let daemon: ReturnType<typeof createClient>;
  let marketplace: MarketPrograms["marketplace"];
  let price: bigint;
  const started: string[] = [];
  let held = Promise.withResolvers<void>();

  beforeAll(async () => {
    world = await startWorld({ tools: 1, payers: 1 });
    front = await startFrontDoor();
    back = await startFrontDoor();
    // The marketplace reaches the daemon through the back door, which is opened once the daemon has a port.
    market = await startMarket(world, folder, {
      serviceToken: SERVICE_TOKEN,
      publicUrl: front.url,
      marketplace: {
        MARKETPLACE_SETTLEMENT_URL: back.url,
        MARKETPLACE_RATE_LIMIT_PER_SECOND: REQUESTS_PER_SECOND,
      },
    });
    marketplace = market.marketplace;
    back.open(market.daemonUrl);
    front.open(market.url);
    tool = await startTool({ methods: METHODS, call: () => structured({ weight: 1 }) });
    const [listed] = world.tools;
    const [buyer] = world.payers;
    if (listed === undefined || buyer === undefined) throw new Error("the world is too small");
    toolId = uuidFromToolId(listed.toolId);
    const ask = createClient({ url: front.url, serviceToken: "" });
    const described = { toolId, endpoint: tool.url, name: "Parcels", description: "Parcels on their way" };
    expect(await registerTool(ask, listed.developer, described)).toMatchObject({ listed: true });
    key = await makeApiKey(ask, buyer, "questions");
    client = createStrictClient(front.url, key);
    daemon = createClient({ url: market.daemonUrl, serviceToken: SERVICE_TOKEN });
    price = BigInt(Math.round(Number((await client.discovery.get(toolId)).price) * 1_000_000));
    expect(price).toBeGreaterThan(0n);
  });
  beforeEach(() => {
    tool.state.calls = 0;
    tool.tool.call = () => structured({ weight: 420 });
    client.sent.length = 0;
  });
  // A question that is still worked on would call the tool of the next test.
  afterEach(async () => {
    back?.open(market.daemonUrl);
    tool.tool.call = () => structured({ weight: 420 });
    held.resolve();
    held = Promise.withResolvers<void>();
    await Promise.allSettled(started.splice(0).map((jobId) => client.query.poll(jobId)));
  });
  afterAll(async () => {
    await marketplace?.stop();
    await market?.stop();
    await tool?.close();
    await front?.close();
    await back?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  // What was recorded for an attempt, in micro-USDC; nothing if the daemon has not heard of it.
  async function recorded(attempt: string): Promise<bigint> {
    const { status, body } = await daemon("GET", `/v1/turns/${attempt}`);
    if (status === 404) return 0n;
    const charges = body.charges as { amountUsd: string }[];
    return charges.reduce((sum, { amountUsd }) => sum + BigInt(Math.round(Number(amountUsd) * 1_000_000)), 0n);
  }
  const settled = (attempt: string) =>
    until("the turn to be recorded", async () => (await recorded(attempt)) === price);

  // What questions may cost is held of what their payer can spend, and given back when they have ended.
  const heldUsd = async () => {
    const { body } = await daemon("GET", `/v1/payers/${world.payers[0]?.address}/spendable`);
    return (body.funds as { heldUsd: string } | undefined)?.heldUsd ?? body.heldUsd;
  };
  const nothingHeld = () => until("nothing to be held", async () => Number(await heldUsd()) === 0);

  // Starts a job, which ends before the next test begins.
  async function start(question: Question) {
    const job = await client.query.start(question);
    started.push(job.jobId);
    return job;
  }
  // A call that is answered only after the test.
  const hold = () => held.promise.then(() => structured({ weight: 420 }));

  async function killAndRestart(more: Readonly<Record<string, string>> = {}): Promise<void> {
    await marketplace.kill();
    const again = await startMarketplaceProgram({ ...market.environment, ...more });
    marketplace = again.program;
    front?.open(again.url);
  }

  it("run is two requests, none of which waits five seconds, and is paid once", async () => {
    const result = await client.query.run({ query: WEIGHT, includeDeveloperTrace: true });
    expect(result).toMatchObject({
      outcomeType: "answer",
      toolsUsed: [{ id: toolId, skillCalls: 1 }],
      responseShape: "answer_with_evidence",
      orchestrationMetrics: { orchestrationMode: "auto_discovery" },
      developerTrace: { summary: { toolCalls: 1 } },
    });
    expect(client.sent.map(({ method }) => method)).toEqual(["POST", "GET"]);
    await settled(result.querySession?.attemptId ?? "");
  });

  it("start, getStatus and poll get on, and the same key is the same job", async () => {
    const options = { query: WEIGHT, tools: [toolId], idempotencyKey: randomUUID() };
    const first = await start(options);
    const again = await start(options);
    expect(again.jobId).toBe(first.jobId);
    expect(client.sent.at(-1)).toMatchObject({ replayed: true, status: 202 });
    const polled = await client.query.poll(first.jobId);
    expect((await client.query.getStatus(first.jobId)).result).toEqual(polled);
    expect(tool.state.calls).toBe(1);
  });

  it("a job that failed is thrown as text, and one that nobody can answer is returned as a miss", async () => {
    tool.tool.call = () => ({ isError: true, content: [{ type: "text", text: "scales are broken" }] });
    await expect(client.query.run(WEIGHT)).rejects.toThrow("scales are broken");
    const miss = await client.query.run("Who won the chess championship in 1972?");
    expect(miss).toMatchObject({ outcomeType: "capability_miss", cost: { totalCostUsd: "0.00" } });
    expect(client.sent.every(({ status }) => status < 300)).toBe(true);
  });

  it("stream has its statuses, deltas that are the response, characters that stay whole, and the result", async () => {
    const sender = "Zoë 🐘 — 東京".repeat(40);
    tool.tool.call = () => structured({ weight: 420, sender });
    const events: StrictEvent[] = [];
    for await (const event of client.query.stream({
      query: "Who sent parcel 7, what is its sender?",
      tools: [toolId],
    })) {
      events.push(event);
    }
    const done = events.at(-1);
    if (done?.type !== "done") throw new Error(`the last event is ${JSON.stringify(done)}`);
    const deltas = events.flatMap((event) => (event.type === "text-delta" ? [event.delta] : []));
    expect(deltas.join("")).toBe(done.result.response);
    expect(done.result.response).toContain("🐘 — 東京");
    const statuses = events.flatMap((event) => (event.type === "tool-status" ? [event.status] : []));
    expect(statuses).toEqual(expect.arrayContaining(["discovering", "planning", "executing", "tool-complete"]));
  });

  it("stream is, byte for byte, comments, empty lines and one JSON after each data: with a space, up to [DONE]", async () => {
    const response = await fetch(`${front?.url}/api/v1/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: WEIGHT, tools: [toolId], stream: true, includeDeveloperTrace: true }),
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("content-encoding")).toBeNull();
    const lines = (await response.text()).split("\n");
    expect(lines.every((line) => /^(data: \S.*|:.*|)$/.test(line) && !line.endsWith("\r"))).toBe(true);
    const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
    expect(data.at(-1)).toBe("[DONE]");
    const events = data.slice(0, -1).map((text) => JSON.parse(text) as { type: string; [field: string]: unknown });
    const known = ["tool-status", "text-delta", "developer-trace", "error", "done"];
    expect(events.filter(({ type }) => !known.includes(type))).toEqual([]);
    for (const { type, tool: named } of events) {
      if (type === "tool-status") expect(named).toEqual({ id: expect.any(String), name: expect.any(String) });
    }
    expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
  });

  it("a trace whose parts are joined as the SDKs join them has every step once", async () => {
    const steps: unknown[] = [];
    for await (const event of client.query.stream({ query: WEIGHT, tools: [toolId], includeDeveloperTrace: true })) {
      if (event.type === "developer-trace") steps.push(...((event.trace.timeline as unknown[]) ?? []));
      if (event.type === "done") steps.push(...(event.result.developerTrace?.timeline ?? []));
    }
    const calls = steps.filter((step) => (step as { stepType: string }).stepType === "tool-call");
    expect(calls).toHaveLength(1);
    const names = steps.map((step) => JSON.stringify(step));
    expect(new Set(names).size).toBe(names.length);
    const untraced = await client.query.run(WEIGHT);
    expect([untraced.developerTrace, untraced.orchestrationMetrics]).toEqual([undefined, undefined]);
  });

  it("what older SDKs send is read, and nobody is asked back", async () => {
    const older = {
      query: WEIGHT,
      queryDepth: "deep",
      debugScoutDeepMode: "deep-heavy",
      clarificationPolicy: "always",
      answerModelId: "rules",
      responseShape: "answer",
    };
    const answered = await client.query.run(older);
    expect(answered).toMatchObject({ outcomeType: "answer", response: expect.stringContaining("420") });
    expect([answered.responseShape, answered.evidence]).toEqual([undefined, undefined]);
    const events: StrictEvent[] = [];
    for await (const event of client.query.stream(older)) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { outcomeType: "answer" } });
  });

  it("cost is one price for a listing, however many calls, adds up, and is what is recorded", async () => {
    const { cost, toolsUsed, querySession } = await client.query.run({
      query: "What is the weight of parcel numbers 7, 8 and 9?",
      tools: [toolId],
    });
    expect(toolsUsed).toMatchObject([{ id: toolId, skillCalls: tool.state.calls }]);
    expect(tool.state.calls).toBeGreaterThan(1);
    const micros = (usd: string) => BigInt(Math.round(Number(usd) * 1_000_000));
    expect(micros(cost.toolCostUsd)).toBe(price);
    expect(micros(cost.totalCostUsd)).toBe(micros(cost.toolCostUsd) + micros(cost.modelCostUsd));
    await settled(querySession?.attemptId ?? "");
  });

  it("dataUrl opens without a header", async () => {
    const { dataUrl = "" } = await client.query.run({ query: WEIGHT, includeDataUrl: true });
    const opened = await fetch(dataUrl);
    expect(await opened.json()).toMatchObject({ outputs: [{ method: "weigh_parcel", result: { weight: 420 } }] });
  });

  it("a hundred questions to a slow tool keep no Execute call waiting, and are all answered", async () => {
    tool.tool.call = ({ args }) => (args.number === 1 ? structured({ weight: 420 }) : hold());
    const jobs = await Promise.all(
      Array.from({ length: 100 }, (_, i) => start(`What is the weight of parcel number ${i + 2}?`)),
    );
    await until("many calls", () => tool.state.calls >= 16);
    const bought = await client.tools.execute({ toolId, toolName: "weigh_parcel", args: { number: 1 } });
    expect(bought.result).toEqual({ weight: 420 });
    held.resolve();
    const results = await Promise.all(jobs.map(({ jobId }) => client.query.poll(jobId)));
    expect(results.every(({ outcomeType }) => outcomeType === "answer")).toBe(true);
    expect(client.sent.filter(({ status }) => status >= 300)).toEqual([]);
    for (const { jobId } of jobs) await settled(jobId);
  });

  it("kill −9 while a tool runs: the job has failed, and nothing is charged, then or under the same key", async () => {
    tool.tool.call = hold;
    const options = { query: WEIGHT, idempotencyKey: randomUUID() };
    const { jobId } = await start(options);
    await until("the call", () => tool.state.calls === 1);
    await killAndRestart();
    await expect(client.query.poll(jobId)).rejects.toThrow("interrupted");
    expect((await start(options)).jobId).toBe(jobId);
    expect(tool.state.calls).toBe(1);
    expect(await recorded(jobId)).toBe(0n);
    await nothingHeld();
  });

  it("kill −9 while Python runs: the job has failed, and nothing is charged, for the tool or for the model", async () => {
    const contract = { operation: "loop", reason: "a test", inputAliases: [], expectedArtifacts: [] };
    const python = { code: "while True: pass", postProcessingContract: contract };
    const model = await startModel((_asked, number) => ({
      call: [
        number === 1
          ? { name: "t1_weigh_parcel", arguments: '{"number":7}' }
          : { name: "code_interpreter", arguments: JSON.stringify(python) },
      ],
    }));
    try {
      const models = join(folder, "models.json");
      const prices = { inputUsdPerMillion: "1", outputUsdPerMillion: "2", maxCostUsd: "0.01" };
      writeFileSync(models, JSON.stringify([{ id: "scripted", url: model.url, model: "scripted", ...prices }]));
      await killAndRestart({ MARKETPLACE_MODELS: models, MARKETPLACE_INTERPRETER: "pyodide" });
      const { jobId } = await start({ query: WEIGHT, tools: [toolId] });
      await marketplace.printed("event=python_call_start");
      await killAndRestart();
      await expect(client.query.poll(jobId)).rejects.toThrow("interrupted");
      expect(tool.state.calls).toBe(1);
      expect(await recorded(jobId)).toBe(0n);
      await nothingHeld();
    } finally {
      await model.close();
    }
  });

  it.each([true, false])(
    "kill −9 after the answer and before its asker has read it (stream %s): it is found again without a key, and charged once",
    async (stream) => {
      tool.tool.call = hold;
      const listed = async () => {
        const reply = await fetch(`${front?.url}/api/v1/query/jobs?limit=1`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await reply.json()) as { jobs: { jobId: string; status: string }[] }).jobs[0];
      };
      const leaving = new AbortController();
      const answer = fetch(`${front?.url}/api/v1/query`, {
        signal: leaving.signal,
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: WEIGHT, tools: [toolId], stream }),
      });
      const lost = answer.then((reply) => reply.text()).catch(() => null);
      await until("the call", () => tool.state.calls === 1);
      const jobId = (await listed())?.jobId ?? "";
      // A stream says it at once; of what is one answer the head comes with the rest.
      if (stream) expect((await answer).headers.get("x-context-job-id")).toBe(jobId);
      back?.shut();
      held.resolve();
      await until("the answer to be kept", async () => (await listed())?.status === "completed");
      await killAndRestart();
      leaving.abort();
      await lost;
      expect(await recorded(jobId)).toBe(0n);
      back?.open(market.daemonUrl);
      expect((await client.query.poll((await listed())?.jobId ?? "")).response).toContain("420");
      await settled(jobId);
      expect(tool.state.calls).toBe(1);
      await nothingHeld();
    },
  );

  it.each([true, false])(
    "kill −9 while a tool runs for somebody who waits (stream %s): it has failed, and nothing is charged",
    async (stream) => {
      tool.tool.call = hold;
      const leaving = new AbortController();
      const lost = fetch(`${front?.url}/api/v1/query`, {
        signal: leaving.signal,
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: WEIGHT, tools: [toolId], stream }),
      })
        .then((reply) => reply.text())
        .catch(() => null);
      await until("the call", () => tool.state.calls === 1);
      await killAndRestart();
      leaving.abort();
      await lost;
      const reply = await fetch(`${front?.url}/api/v1/query/jobs`, { headers: { authorization: `Bearer ${key}` } });
      const [job] = ((await reply.json()) as { jobs: { jobId: string; status: string; error: string }[] }).jobs;
      expect(job).toMatchObject({ status: "failed", error: expect.stringContaining("nothing is charged") });
      expect(await recorded(job?.jobId ?? "")).toBe(0n);
      await nothingHeld();
    },
  );

  it("kill −9 with questions that nobody has begun: those are answered after the restart, the others have failed", async () => {
    let isSlow = true;
    tool.tool.call = () => (isSlow ? hold() : structured({ weight: 420 }));
    const jobs = await Promise.all(
      Array.from({ length: 40 }, (_, i) => start(`What is the weight of parcel number ${i + 200}?`)),
    );
    await until("as many calls as run at once", () => tool.state.calls === 32);
    expect(Number(await heldUsd())).toBe((40 * Number(price)) / 1_000_000);
    isSlow = false;
    await killAndRestart();
    const outcomes = await Promise.allSettled(jobs.map(({ jobId }) => client.query.poll(jobId)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
    expect(tool.state.calls).toBe(40);
    for (const [i, { status }] of outcomes.entries()) {
      const { jobId = "" } = jobs[i] ?? {};
      if (status === "fulfilled") await settled(jobId);
      else expect(await recorded(jobId)).toBe(0n);
    }
    await nothingHeld();
  });

  it("kill −9 after an answer and before its record: it is recorded at the next start, once", async () => {
    tool.tool.call = () => {
      back?.shut();
      return structured({ weight: 420 });
    };
    const { jobId } = await start(WEIGHT);
    expect((await client.query.poll(jobId)).response).toContain("420");
    await killAndRestart();
    expect(await recorded(jobId)).toBe(0n);
    back?.open(market.daemonUrl);
    await settled(jobId);
    await killAndRestart();
    expect(await recorded(jobId)).toBe(price);
  });

  it("kill −9 after a record that the marketplace did not hear of: telling it again charges nothing", async () => {
    tool.tool.call = () => {
      back?.shut("afterwards");
      return structured({ weight: 420 });
    };
    const { jobId } = await start(WEIGHT);
    await client.query.poll(jobId);
    await settled(jobId);
    await killAndRestart();
    const before = back?.seen.length ?? 0;
    back?.open(market.daemonUrl);
    await until("the turn to be told again", () =>
      (back?.seen ?? []).slice(before).some(({ url, method }) => method === "POST" && url === "/v1/turns"),
    );
    expect(await recorded(jobId)).toBe(price);
  });
});

import { hash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { keccak256, stringToBytes } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { evictKept } from "../../../marketplace/query/jobs/jobs.ts";
import { canonicalJson } from "../../../marketplace/toolkit/answer/canonicalJson.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { backends, type Store } from "../../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "../openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "../openMarketplace.ts";
import { startTool, structured, type ToolMethod, type ToolServer } from "../startTool.ts";
import { splitLines, strictResult } from "../strictClient.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const JOBS = "/api/v1/query/jobs";
const QUERY = "/api/v1/query";
const PRICE = 50_000n;

const keys = (count: number) => Array.from({ length: count }, (_, i) => `key_${i}`);

const WEIGH: ToolMethod = {
  name: "weigh_parcel",
  description: "The weight of a parcel in grams, by its number.",
  inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  outputSchema: { type: "object", properties: { weight: { type: "number" } }, required: ["weight"] },
  _meta: { latencyClass: "fast" },
};
const ROUTE: ToolMethod = {
  name: "list_stops",
  description: "The stops of a parcel on its way, oldest first.",
  inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  outputSchema: {
    type: "object",
    properties: {
      stops: {
        type: "array",
        items: { type: "object", properties: { town: { type: "string" }, day: { type: "string" } } },
      },
    },
    required: ["stops"],
  },
};
const POSTAGE: ToolMethod = {
  name: "postage_of_parcel",
  description: "The postage of a parcel in cents, by its number.",
  inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  outputSchema: { type: "object", properties: { postage: { type: "number" } }, required: ["postage"] },
};
const WEIGHT = "What is the weight of parcel number 7?";
const WEIGHT_AND_POSTAGE = "What is the weight of parcel number 7, and what is the postage of parcel number 7?";

type Body = Record<string, unknown>;
type Result = Record<string, never> & {
  response: string;
  outcomeType: string;
  cost: { totalCostUsd: string };
  toolsUsed: object[];
  querySession: { sessionId: string; attemptId: string };
};

// So little that a dozen answers are more.
const KEPT_BYTES = 1_200_000;

describe.each(backends)("a question, on $name", ({ create }) => {
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  const servers: ToolServer[] = [];

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    market = await openMarketplace(database, { daemonUrl: daemon.url, maxKeptBytes: KEPT_BYTES });
  });
  afterEach(async () => {
    daemon.state.away = false;
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(async () => {
    await market.close();
    await daemon.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function list(methods: ToolMethod[], name: string, price = PRICE) {
    const server = await startTool({
      methods,
      call: ({ name }) => structured(name === "list_stops" ? { stops: [] } : { weight: 1, postage: 1 }),
    });
    servers.push(server);
    const owner = newWallet();
    const toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address, { price, stake: 1_000_000_000n }));
    const described = { toolId, endpoint: server.url, name, description: "Parcels on their way" };
    const { body } = await register(market.ask, owner, described);
    expect(body).toMatchObject({ listed: true });
    server.state.calls = 0;
    return { server, toolId, owner };
  }

  // A tool that weighs parcels, and somebody who asks.
  async function shop(call: ToolServer["tool"]["call"] = () => structured({ weight: 420 }), price = PRICE) {
    const { server, toolId, owner } = await list([WEIGH, ROUTE], "Parcels", price);
    server.tool.call = call as NonNullable<typeof call>;
    const buyer = newWallet();
    const key = await makeKey(market.ask, buyer);
    const post = (path: string, body: Body, idempotencyKey?: string, on = market) =>
      on.ask("POST", path, { query: WEIGHT, tools: [toolId], ...body }, key, {
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      });
    const start = (body: Body = {}, idempotencyKey?: string, on = market) => post(JOBS, body, idempotencyKey, on);
    const look = (jobId: unknown, on = market) => on.ask("GET", `${JOBS}/${jobId}`, undefined, key);
    const run = async (body: Body = {}, idempotencyKey?: string) => {
      const started = await start(body, idempotencyKey);
      expect(started.status).toBe(202);
      const { body: job } = await look(started.body.jobId);
      if (job.result) strictResult.parse(job.result);
      return { job, result: job.result as Result, started };
    };
    const owed = async () => (await daemon.exposure(buyer.address)).pending;
    const settled = (amount: bigint) => until("the turn to be recorded", async () => (await owed()) === amount);
    return { server, toolId, owner, buyer, key, post, start, look, run, owed, settled };
  }

  const eventsOf = (text: string) =>
    splitLines(text)
      .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
      .map((line) => JSON.parse(line.slice("data: ".length)) as { type: string; [field: string]: unknown });

  async function streamed(shopped: Awaited<ReturnType<typeof shop>>, body: Body = {}, headers = {}) {
    const reply = await market.app.inject({
      method: "POST",
      url: QUERY,
      headers: { authorization: `Bearer ${shopped.key}`, ...headers },
      payload: { query: WEIGHT, tools: [shopped.toolId], stream: true, ...body },
    });
    const events = eventsOf(reply.payload);
    for (const { type, result } of events) if (type === "done") strictResult.parse(result);
    return { reply, events };
  }

  it("becomes a job whose one status request is held open until the answer is there, and is paid once", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { start, look, owed, settled, server, toolId } = await shop(async () => {
      await held;
      return structured({ weight: 420 });
    });
    const { status, body } = await start();
    expect([status, body]).toMatchObject([
      202,
      { pollingTool: "context_query_poll", querySession: { mode: "initial" } },
    ]);
    const looked = look(body.jobId);
    await until("the call", () => server.state.calls === 1);
    expect(await owed()).toBe(0n);
    release();
    const { body: job } = await looked;
    expect(job).toMatchObject({
      status: "completed",
      jobId: body.jobId,
      error: null,
      result: {
        outcomeType: "answer",
        toolsUsed: [{ id: toolId, name: "Parcels", skillCalls: 1 }],
        cost: { modelCostUsd: "0.00", toolCostUsd: "0.05", totalCostUsd: "0.05" },
        grounding: { grounded: true, toolCallSuccessCount: 1 },
        querySession: { attemptId: body.jobId, status: "completed" },
        stopReason: "complete_answer",
        confidence: { level: "high" },
        evidence: {
          facts: [{ label: "weight", value: 420, path: "weigh_parcel_1.weight" }],
          sourceRefs: [{ provider: "Parcels" }],
        },
      },
    });
    expect((job.result as Result).response).toContain("Weight: 420.");
    await settled(PRICE);
    const [charge] = await daemon.ledger.listChargesOf({ turnId: body.jobId as string });
    expect(charge).toMatchObject({ amount: PRICE });
    // The daemon knows the turn by the attempt: telling it again changes nothing.
    await market.query.tellDue();
    expect(await owed()).toBe(PRICE);
  });

  it("has receipts that name what was asked, what was answered and what the tools that were called had promised", async () => {
    const { run, settled, toolId } = await shop(({ name }) =>
      structured(name === "list_stops" ? { stops: [{ town: "Rome", day: "Monday" }] } : { weight: 420 }),
    );
    const { result, started } = await run();
    await settled(PRICE);
    const hashOf = (value: unknown) => keccak256(stringToBytes(canonicalJson(value)));
    const [weighed] = await daemon.ledger.listChargesOf({ turnId: started.body.jobId as string });
    expect(weighed?.hashes).toEqual({
      request: hashOf({ query: WEIGHT, tools: [toolId], responseShape: "answer_with_evidence" }),
      response: keccak256(stringToBytes(result.response)),
      schema: hashOf(WEIGH.outputSchema),
    });
    // Of several methods of a tool, all that they had promised, by name.
    const both = await run({
      query: "What is the weight of parcel number 7? Which stops were on the way of parcel 7?",
    });
    expect(both.result.toolsUsed).toMatchObject([{ skillCalls: 2 }]);
    await settled(2n * PRICE);
    const [charge] = await daemon.ledger.listChargesOf({ turnId: both.started.body.jobId as string });
    expect(charge?.hashes.schema).toBe(
      hashOf({ weigh_parcel: hashOf(WEIGH.outputSchema), list_stops: hashOf(ROUTE.outputSchema) }),
    );
  });

  it("that names several of what a method takes one of is several calls, one table and one price", async () => {
    const { run, settled } = await shop(({ args }) => structured({ weight: (args.number as number) * 10 }));
    const { result } = await run({ query: "What is the weight of parcels 7, 8 and 9?", includeData: true });
    expect(result).toMatchObject({
      toolsUsed: [{ skillCalls: 3 }],
      cost: { totalCostUsd: "0.05" },
      view: { type: "table", rows: [{ cells: ["7", "70"] }, { cells: ["8", "80"] }, { cells: ["9", "90"] }] },
      data: { outputs: [{ args: { number: 7 }, result: { weight: 70 } }, {}, {}] },
    });
    await settled(PRICE);
  });

  it("under the same key is the same job, whenever it comes, and another question is a conflict", async () => {
    const { start, look, server, settled } = await shop();
    const key = randomUUID();
    const [first, second] = await Promise.all([start({}, key), start({}, key)]);
    expect(second.body.jobId).toBe(first.body.jobId);
    await look(first.body.jobId);
    const later = await start({}, key);
    expect(later).toMatchObject({
      body: { jobId: first.body.jobId, status: "completed" },
      headers: { "idempotency-replayed": "true" },
    });
    expect(await start({ query: "What is the weight of parcel number 8?" }, key)).toMatchObject({
      status: 409,
      body: { code: "idempotency_conflict" },
    });
    expect(server.state.calls).toBe(1);
    await settled(PRICE);
  });

  it.each<[string, Body, number, string]>([
    ["an unknown tool", { tools: [randomUUID()] }, 400, "invalid_request"],
    ["an unknown model", { agentModelId: "none-such" }, 400, "invalid_request"],
    ["an empty question", { query: "  " }, 400, "invalid_request"],
    ["a question that is too long", { query: "x".repeat(4_001) }, 400, "invalid_request"],
    ["a zero character", { query: "a\0b" }, 400, "invalid_request"],
    ["an unknown shape", { responseShape: "poem" }, 400, "invalid_request"],
    ["a bound below the price", { maxCostUsd: "0.04" }, 400, "invalid_request"],
    [
      "an attempt of nobody",
      { tools: null, resumeFrom: { sessionId: randomUUID(), attemptId: randomUUID() } },
      404,
      "not_found",
    ],
    ["two ways to go on", { resumeFrom: { sessionId: randomUUID(), attemptId: randomUUID() } }, 400, "invalid_request"],
  ])("with %s is refused before there is a job", async (_what, body, status, code) => {
    const { post, server } = await shop();
    for (const [path, stream] of [
      [JOBS, undefined],
      [QUERY, true],
      [QUERY, false],
    ] as const) {
      const { status: answered, body: refused } = await post(path, {
        ...body,
        ...(stream !== undefined && { stream }),
      });
      expect([path, answered, refused.code]).toEqual([path, status, code]);
      expect(refused.error).toEqual(expect.any(String));
    }
    expect(server.state.calls).toBe(0);
  });

  it("for a model of the original is answered where there is none, and says by whom", async () => {
    const { run } = await shop();
    const { result } = await run({ agentModelId: "kimi-k2.6-model" });
    expect(result).toMatchObject({
      outcomeType: "answer",
      evidence: { assumptions: ["the model kimi-k2.6-model is not offered here, and rules answered"] },
      cost: { modelCostUsd: "0.00" },
    });
  });

  it("of somebody whose cap does not cover it is refused before there is a job, and taken once it does", async () => {
    const { start, run, buyer, server } = await shop();
    daemon.allow(buyer.address, PRICE - 1n);
    const key = randomUUID();
    expect(await start({}, key)).toMatchObject({
      status: 402,
      body: { code: "insufficient_allowance", helpUrl: "https://help.example/cap" },
    });
    expect(server.state.calls).toBe(0);
    daemon.allow(buyer.address, PRICE);
    expect((await run({}, key)).result.outcomeType).toBe("answer");
  });

  it("is not let in for money that another one may still cost", async () => {
    const calls: ServerResponse[] = [];
    const { start, buyer, server, look } = await shop(({ response }) => void calls.push(response));
    daemon.allow(buyer.address, PRICE);
    const both = await Promise.all([start(), start({ query: "What is the weight of parcel number 8?" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 402]);
    await until("the call", () => server.state.calls === 1);
    for (const response of calls) response.destroy();
    const { jobId } = both.find(({ status }) => status === 202)?.body ?? {};
    expect((await look(jobId)).body).toMatchObject({ status: "failed" });
    // What failed costs nothing and holds nothing.
    server.tool.call = () => structured({ weight: 1 });
    expect((await start()).status).toBe(202);
  });

  it("holds what it may cost while it runs, and gives back what it does not cost, however it ends", async () => {
    const { buyer, run, start, look, server } = await shop();
    const exposure = () => daemon.exposure(buyer.address);
    const nothingHeld = () => until("nothing to be held", async () => (await exposure()).held === 0n);
    const gate = Promise.withResolvers<void>();
    server.tool.call = async () => {
      await gate.promise;
      return { isError: true, content: [{ type: "text", text: "scales are broken" }] };
    };
    const { body } = await start();
    await until("the call", () => server.state.calls === 1);
    expect(await exposure()).toEqual({ pending: 0n, held: PRICE });
    gate.resolve();
    expect((await look(body.jobId)).body).toMatchObject({ status: "failed" });
    await nothingHeld();
    server.tool.call = () => structured({ weight: 420 });
    const { result } = await run({ query: "Who won the chess championship in 1972?" });
    expect(result).toMatchObject({ outcomeType: "capability_miss" });
    await nothingHeld();
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    // Two arrivals of one key hold once.
    await Promise.all([start({}, "twice"), start({}, "twice")]);
    await until("it to be owed", async () => (await exposure()).pending === PRICE);
    await nothingHeld();
  });

  it("gives back what was held though the daemon was away when it failed", async () => {
    const { buyer, start, look } = await shop(() => {
      daemon.state.away = true;
      return { isError: true, content: [{ type: "text", text: "scales are broken" }] };
    });
    const { body } = await start();
    expect((await look(body.jobId)).body).toMatchObject({ status: "failed" });
    await until("it to be told later", async () => {
      const [row] = await market.store.read.all("SELECT turn_attempts FROM query_jobs WHERE id = $1", [
        body.jobId as string,
      ]);
      return row?.turn_attempts === 1n;
    });
    daemon.state.away = false;
    expect(await daemon.exposure(buyer.address)).toEqual({ pending: 0n, held: PRICE });
    market.pass(60_000);
    expect(await market.query.tellDue()).toBe(0);
    expect(await daemon.exposure(buyer.address)).toEqual({ pending: 0n, held: 0n });
  });

  it("that no tool answers is a miss in plain words, and costs nothing", async () => {
    const { run, owed, server } = await shop();
    const { job, result } = await run({ query: "Who won the chess championship in 1972?" });
    expect(job.status).toBe("completed");
    expect(result).toMatchObject({
      outcomeType: "capability_miss",
      capabilityMiss: {
        originalQuery: "Who won the chess championship in 1972?",
        missingCapabilities: [expect.any(String)],
      },
      stopReason: "capability_miss",
      cost: { totalCostUsd: "0.00" },
      toolsUsed: [],
      grounding: { grounded: false },
    });
    const lacking = await run({ query: "What is the weight of a parcel?" });
    expect(lacking.result.response).toContain("if the question gave it number");
    expect(server.state.calls).toBe(0);
    expect(await owed()).toBe(0n);
  });

  it.each<[string, ToolServer["tool"]["call"], RegExp]>([
    [
      "says that it failed",
      () => ({ isError: true, content: [{ type: "text", text: "scales are broken" }] }),
      /scales are broken/,
    ],
    ["hangs up", ({ response }) => void response.destroy(), /failed/],
    [
      "answers something else than it promises",
      () => structured({ weight: "heavy" }),
      /something else than it promises/,
    ],
    [
      "asks for a person",
      () => structured({ _meta: { handshakeAction: { _action: "signature_request" } } }),
      /asks for a person/,
    ],
  ])("whose tool %s fails in the tool's words, and costs nothing", async (_what, call, words) => {
    const shopped = await shop(call);
    const { job } = await shopped.run();
    expect(job).toMatchObject({ status: "failed", result: null, error: expect.stringMatching(words) });
    const answered = await shopped.post(QUERY, { stream: false });
    expect(answered).toMatchObject({
      status: 422,
      body: { code: "query_failed", error: expect.stringMatching(words) },
    });
    const { events } = await streamed(shopped);
    expect(events.at(-1)).toMatchObject({
      ...{ type: "error", code: "query_failed", error: expect.stringMatching(words) },
      ...{ scope: "query", reasonCode: "execution_failed", querySession: { mode: "initial", status: "failed" } },
    });
    expect(await shopped.owed()).toBe(0n);
  });

  it("is streamed in lines that the SDKs read: statuses with their tool, deltas that are the response, done, end", async () => {
    const shopped = await shop();
    const { reply, events } = await streamed(shopped, { includeDeveloperTrace: true });
    expect(reply.headers["content-type"]).toBe("text/event-stream");
    expect(reply.headers["content-encoding"]).toBeUndefined();
    expect(reply.payload.endsWith("data: [DONE]\n\n")).toBe(true);
    for (const line of reply.payload.split("\n")) expect(line).toMatch(/^(data: .+|: .*|)$/);
    const statuses = events.filter(({ type }) => type === "tool-status");
    expect(statuses.map(({ status }) => status)).toEqual([
      "discovering",
      "discovered",
      "planning",
      "executing",
      "tool-complete",
      "synthesizing",
    ]);
    for (const { tool } of statuses) expect(tool).toEqual({ id: expect.any(String), name: expect.any(String) });
    const done = events.at(-1) as unknown as { type: string; result: Result & { developerTrace: Body } };
    expect(done.type).toBe("done");
    const deltas = events.filter(({ type }) => type === "text-delta").map(({ delta }) => delta);
    expect(deltas.join("")).toBe(done.result.response);
    // The timeline is sent once, with the result.
    expect(events.some(({ type }) => type === "developer-trace")).toBe(false);
    expect(done.result).toMatchObject({
      developerTrace: {
        summary: { toolCalls: 1, failureCount: 0 },
        source: "backend-runtime",
        diagnostics: { execution: { modelUsed: false, model: null, stepBudget: 10 } },
        timeline: expect.arrayContaining([expect.objectContaining({ message: "chosen by rules; no model was used" })]),
      },
      orchestrationMetrics: {
        parityStage: "enabled",
        orchestrationMode: "manual_selected_tools",
        firstPassSuccess: true,
      },
    });
    await shopped.settled(PRICE);
  });

  it("says what could have been called and what was, method by method, and shows developers the call", async () => {
    const { run, toolId } = await shop();
    const { result } = await run({ includeDeveloperTrace: true });
    const methods = {
      availableToolCount: 2,
      availableMethodNamesSample: ["Parcels.weigh_parcel", "Parcels.list_stops"],
      selectedMethodCount: 2,
      selectedButFilteredOut: [],
      toolCallAttemptCount: 1,
      toolCallSuccessCount: 1,
      toolCallFailureCount: 0,
      toolCallFailureSamples: [],
    };
    expect(result.grounding).toEqual({ ...methods, toolCallCount: 1, grounded: true });
    const { timeline, diagnostics } = result.developerTrace as unknown as { timeline: Body[]; diagnostics: Body };
    expect(timeline.map(({ stepType, event }) => `${stepType}/${event}`)).toEqual([
      "orchestration/query-start",
      "selection/selected-tools",
      "execution-setup/iterative-execution-entry",
      "planning/plan",
      "tool-call/tool-call",
      "completion-check/completeness",
      "execution-attempt/execution",
      "orchestration/query-complete",
    ]);
    expect(result.developerTrace).toMatchObject({ executionSuccess: true, executionResult: { weight: 420 } });
    expect(timeline.find(({ stepType }) => stepType === "tool-call")).toMatchObject({
      tool: { id: toolId, name: "Parcels", method: "weigh_parcel" },
      metadata: { args: { number: 7 }, result: { weight: 420 } },
    });
    expect(diagnostics).toMatchObject({
      selection: {
        selectedTools: [
          {
            toolId,
            toolName: "Parcels",
            priceUsd: "0.05",
            selectedMethodCount: 2,
            selectedMethods: ["weigh_parcel", "list_stops"],
            omittedSelectedMethodCount: 0,
          },
        ],
      },
      executionContract: { plannerQuery: WEIGHT, allowedModules: [] },
      execution: { toolRegistry: methods },
    });
    const verification = {
      evaluations: [{ evaluation: "completeness", status: "success", gaps: [] }],
      repairEvents: [],
      triggerNeedsDifferentTools: false,
      triggerMissingCapability: null,
    };
    expect([result.developerTrace, diagnostics]).toMatchObject([{ verification }, { verification }]);
  });

  it("leads from what it rests on to where that can be read, if an address was asked for", async () => {
    const { run } = await shop();
    const { result } = await run({ includeDataUrl: true });
    const { dataUrl, evidence } = result as unknown as { dataUrl: string; evidence: { sourceRefs: Body[] } };
    expect(evidence.sourceRefs).toMatchObject([{ provider: "Parcels", artifactRef: "weigh_parcel_1", url: dataUrl }]);
    const opened = await market.app.inject({ method: "GET", url: new URL(dataUrl).pathname });
    expect(opened.json()).toMatchObject({ outputs: [{ alias: "weigh_parcel_1", result: { weight: 420 } }] });
    const plain = (await run()).result as unknown as { evidence: { sourceRefs: Body[] } };
    expect(plain.evidence.sourceRefs).toMatchObject([{ url: null }]);
  });

  // What a tool tells of a search of its own, as the public SDKs write it.
  const SEARCH = {
    version: "ctx-contributor-search/v1",
    outcome: "selected",
    confidence: "high",
    selectedCandidateId: "parcel-7",
    shortlistCandidateIds: ["parcel-7"],
    candidateCount: 3,
    shortlistCount: 1,
    judge: { disabled: true, applied: false },
    provenance: [{ source: "parcels", query: "7", candidateCount: 3 }],
    trace: { usedDeterministicFallback: true, validatorStatus: "accepted" },
  };

  it.each([
    ["whole", SEARCH, 1],
    ["a part of it", { version: SEARCH.version }, 0],
    ["something of another type", { ...SEARCH, candidateCount: "three" }, 0],
    ["something of another time", { ...SEARCH, version: "ctx-contributor-search/v9" }, 0],
    ["more than a trace holds", { ...SEARCH, intentQueries: ["x".repeat(20_000)] }, 0],
  ])("hands a tool's own search on to developers if it is %s", async (_what, searchMetadata, handedOn) => {
    const { run } = await shop(() => structured({ weight: 420, searchMetadata }));
    const { result } = await run({ includeDeveloperTrace: true });
    const { diagnostics } = result.developerTrace as unknown as { diagnostics: { contributorSearches: object[] } };
    expect(result.outcomeType).toBe("answer");
    expect(diagnostics.contributorSearches).toHaveLength(handedOn);
    for (const search of diagnostics.contributorSearches) expect(search).toMatchObject({ searchMetadata: SEARCH });
  });

  it("that was asked without a key is found again by whoever lost its answer, and by nobody else", async () => {
    const shopped = await shop();
    const { reply, events } = await streamed(shopped);
    const jobId = reply.headers["x-context-job-id"];
    expect(events.at(-1)).toMatchObject({ type: "done", result: { querySession: { attemptId: jobId } } });
    const answered = await shopped.post(QUERY, { stream: false });
    expect(answered.headers["x-context-job-id"]).toBe((answered.body.querySession as Result["querySession"]).attemptId);
    const { body: job } = await shopped.look(jobId);
    expect(job).toMatchObject({ status: "completed", result: { outcomeType: "answer" } });
    await shopped.start({ query: "What is the weight of parcel number 8?" });
    const listed = async (limit: string, key = shopped.key) =>
      ((await market.ask("GET", `${JOBS}?limit=${limit}`, undefined, key)).body as { jobs: Body[] }).jobs;
    expect(await listed("20")).toEqual([
      expect.objectContaining({ query: "What is the weight of parcel number 8?" }),
      expect.objectContaining({ jobId: answered.headers["x-context-job-id"], status: "completed" }),
      expect.objectContaining({ jobId, status: "completed", query: WEIGHT, error: null }),
    ]);
    expect(await listed("1")).toHaveLength(1);
    for (const limit of ["0", "-3", "1000000", "many", ""]) expect((await listed(limit)).length).toBeGreaterThan(0);
    expect(await listed("20", (await shop()).key)).toEqual([]);
    expect((await market.ask("GET", JOBS)).status).toBe(401);
  });

  it("under a key streams the same answer again, and is paid once", async () => {
    const shopped = await shop();
    const headers = { "idempotency-key": randomUUID() };
    const first = await streamed(shopped, {}, headers);
    const again = await streamed(shopped, {}, headers);
    expect(again.events.at(-1)).toEqual(first.events.at(-1));
    expect(shopped.server.state.calls).toBe(1);
    await shopped.settled(PRICE);
  });

  it.each<[string, boolean, "stream" | "job"]>([
    ["a stream", true, "stream"],
    ["an answer", false, "stream"],
    ["a stream", true, "job"],
  ])(
    "of somebody who waits for %s (stream %s) and goes is answered to whoever has come for the same as a %s meanwhile",
    async (_what, stream, second) => {
      const gate = Promise.withResolvers<void>();
      const shopped = await shop(async () => {
        await gate.promise;
        return structured({ weight: 420 });
      });
      const url = await market.listen();
      const send = (path: string, body: object, signal?: AbortSignal) =>
        fetch(`${url}${path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${shopped.key}`,
            "content-type": "application/json",
            "idempotency-key": "the-same",
          },
          body: JSON.stringify({ query: WEIGHT, tools: [shopped.toolId], ...body }),
          ...(signal && { signal }),
        });
      const leaving = new AbortController();
      const noticed = Promise.withResolvers<void>();
      market.app.server.once("request", ({ socket }) => socket.once("close", () => noticed.resolve()));
      const left = send(QUERY, { stream }, leaving.signal)
        .then((reply) => reply.text())
        .catch((error: Error) => error);
      await until("the call", () => shopped.server.state.calls === 1);
      // Its headers are there before its answer is.
      const reply = await send(second === "job" ? JOBS : QUERY, second === "job" ? {} : { stream: true });
      expect(reply.status).toBe(second === "job" ? 202 : 200);
      leaving.abort();
      expect(await left).toBeInstanceOf(Error);
      await noticed.promise;
      gate.resolve();
      if (second === "job") {
        const { jobId } = (await reply.json()) as { jobId: string };
        expect((await shopped.look(jobId)).body).toMatchObject({ status: "completed" });
      } else {
        const events = eventsOf(await reply.text());
        expect(events.map(({ type, status }) => status ?? type)).toEqual(
          expect.arrayContaining(["tool-complete", "done"]),
        );
      }
      expect(shopped.server.state.calls).toBe(1);
      await shopped.settled(PRICE);
    },
  );

  it.each([true, false])("whose asker goes away (stream %s) is cancelled, and costs nothing", async (stream) => {
    let cancelled = false;
    const shopped = await shop(({ response }) => {
      response.once("close", () => {
        cancelled = true;
      });
    });
    const leaving = new AbortController();
    const asked = fetch(`${await market.listen()}${QUERY}`, {
      method: "POST",
      headers: { authorization: `Bearer ${shopped.key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: WEIGHT, tools: [shopped.toolId], stream }),
      signal: leaving.signal,
    })
      .then((reply) => reply.text())
      .catch((error: Error) => error);
    await until("the call", () => shopped.server.state.calls === 1);
    leaving.abort();
    expect(await asked).toBeInstanceOf(Error);
    await until("the tool's request to be cancelled", () => cancelled);
    const failures = () =>
      market.store.read.all("SELECT error FROM query_jobs WHERE account = $1 AND status = 'failed'", [
        shopped.buyer.address.toLowerCase(),
      ]);
    await until("the job to end", async () => (await failures()).length === 1);
    // And not because the tool took too long.
    expect((await failures())[0]?.error).toContain("went away");
    expect(await shopped.owed()).toBe(0n);
  });

  it.each([true, false])("whose asker goes away (stream %s) before it is taken costs nothing", async (stream) => {
    const shopped = await shop(() => undefined);
    const gate = Promise.withResolvers<void>();
    daemon.state.gate = gate.promise;
    const noticed = Promise.withResolvers<void>();
    market.app.server.once("request", ({ socket }) => socket.once("close", () => noticed.resolve()));
    const before = daemon.state.requests;
    const leaving = new AbortController();
    const asked = fetch(`${await market.listen()}${QUERY}`, {
      method: "POST",
      headers: { authorization: `Bearer ${shopped.key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: WEIGHT, tools: [shopped.toolId], stream }),
      signal: leaving.signal,
    }).catch((error: Error) => error);
    await until("the daemon to be asked", () => daemon.state.requests > before);
    leaving.abort();
    expect(await asked).toBeInstanceOf(Error);
    await noticed.promise;
    gate.resolve();
    const jobs = () =>
      market.store.read.all("SELECT status FROM query_jobs WHERE account = $1", [shopped.buyer.address.toLowerCase()]);
    await until("the job to end", async () => (await jobs()).some(({ status }) => status === "failed"));
    await until("nothing to be held", async () => (await daemon.exposure(shopped.buyer.address)).held === 0n);
    expect(await shopped.owed()).toBe(0n);
  });

  it("of the oldest SDKs is answered as JSON, with success, and without the envelope if it asks for none", async () => {
    const { post } = await shop();
    const legacy = { stream: false, queryDepth: "deep", debugScoutDeepMode: "deep-light", clarificationPolicy: "auto" };
    const { status, body } = await post(QUERY, { ...legacy, responseShape: "answer" });
    expect([status, body.success, body.outcomeType]).toEqual([200, true, "answer"]);
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(["responseShape"]));
    expect(body.evidence).toBeUndefined();
    const whole = await post(QUERY, { stream: false });
    expect(whole.body).toMatchObject({ responseShape: "answer_with_evidence", evidence: {}, usage: {}, artifacts: {} });
  });

  it("for evidence alone has no prose, and no deltas", async () => {
    const shopped = await shop();
    const { events } = await streamed(shopped, { responseShape: "evidence_only" });
    expect(events.some(({ type }) => type === "text-delta")).toBe(false);
    const { result } = events.at(-1) as unknown as { result: Result };
    expect(JSON.parse(result.response)).toEqual({ "weigh_parcel_1.weight": 420 });
  });

  it("with large data has a preview and an address that opens without a header, until it expires", async () => {
    const stops = Array.from({ length: 3_000 }, (_, i) => ({ town: `Town ${i}`, day: "2026-11-16" }));
    const { run } = await shop(() => structured({ stops }));
    const { result } = await run({ query: "list the stops of parcel 7", includeData: true, includeDataUrl: true });
    const { data, dataUrl } = result as unknown as { data: Body; dataUrl: string };
    expect(data).toMatchObject({ truncated: true, fullData: { dataUrl } });
    expect(dataUrl).toMatch(/^https:\/\/market\.example\/api\/v1\/query\/data\/[\w-]{32}$/);
    const path = new URL(dataUrl).pathname;
    const opened = await market.ask("GET", path);
    expect((opened.body.outputs as { result: unknown }[])[0]?.result).toEqual({ stops });
    for (const guess of ["x", `${"a".repeat(32)}`, "%00"]) {
      expect((await market.ask("GET", `/api/v1/query/data/${guess}`)).status).toBe(404);
    }
    market.pass(8 * 24 * 60 * 60 * 1_000);
    expect((await market.ask("GET", path)).status).toBe(404);
    await market.query.jobs.forget();
  });

  it.each<[string, () => object]>([
    [
      "a table of thousands of columns",
      () => ({
        stops: Array.from({ length: 50 }, (_, row) =>
          Object.fromEntries(keys(1_000).map((name) => [`${name}_${row}`, 1])),
        ),
      }),
    ],
    [
      "rows of thousands of long texts",
      () => ({
        stops: Array.from({ length: 2 }, () => Object.fromEntries(keys(1_000).map((name) => [name, "x".repeat(400)]))),
      }),
    ],
    [
      "thousands of rows",
      () => ({ stops: Array.from({ length: 6_000 }, (_, i) => ({ town: `Town ${i}`, day: "x".repeat(100) })) }),
    ],
    [
      "lists of lists of lists",
      () => ({
        stops: [],
        more: Array.from({ length: 100 }, () => Array.from({ length: 100 }, (_, i) => [i, [{ stop: i }, 2, { b: 3 }]])),
      }),
    ],
    ["names of a hundred thousand characters", () => ({ stops: [{ town: "Rome", ["n".repeat(100_000)]: "x" }] })],
  ])("whose tool answers %s is answered within bounds, and has the whole as data", async (_what, make) => {
    const value = make();
    const { run, settled } = await shop(() => structured(value));
    const { result } = await run({ query: "list the stops of parcel 7", includeDataUrl: true });
    expect(result.outcomeType).toBe("answer");
    expect(JSON.stringify(result).length).toBeLessThan(700_000);
    expect(result.response.length).toBeLessThan(21_000);
    const { dataUrl } = result as unknown as { dataUrl: string };
    const opened = await market.ask("GET", new URL(dataUrl).pathname);
    expect((opened.body.outputs as { result: unknown }[])[0]?.result).toEqual(value);
    await settled(PRICE);
  });

  it("keeps its answer and what its tools said for as long as the account has room for each, the newest longest", async () => {
    const stops = Array.from({ length: 3_000 }, (_, i) => ({
      town: `Town ${i}`,
      day: "x".repeat(KEPT_BYTES / 24_000),
    }));
    const { run, look, settled, buyer } = await shop(() => structured({ stops }));
    const runs: Awaited<ReturnType<typeof run>>[] = [];
    for (let i = 1; i <= 12; i += 1) {
      runs.push(await run({ query: "list the stops of parcel 7", includeDataUrl: true }));
      // What the daemon has not heard of stays in any case.
      await settled(BigInt(i) * PRICE);
    }
    await market.query.evicted();
    const pathOf = ({ result }: (typeof runs)[number]) =>
      new URL((result as unknown as { dataUrl: string }).dataUrl).pathname;
    const statuses = [];
    for (const each of runs) statuses.push((await market.ask("GET", pathOf(each))).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([404, 200]);
    expect(statuses).toEqual(statuses.toSorted((a, b) => b - a));
    const answers = [];
    for (const { started } of runs) answers.push((await look(started.body.jobId)).body);
    expect(answers[0]).toMatchObject({ status: "failed", error: expect.stringContaining("not kept any more") });
    expect(answers.at(-1)).toMatchObject({ status: "completed" });
    const kept = async (table: string) => {
      const [row] = await market.store.read.all(`SELECT SUM(size) AS bytes FROM ${table} WHERE account = $1`, [
        buyer.address.toLowerCase(),
      ]);
      return Number(row?.bytes);
    };
    // A quarter more is kept until somebody looks.
    for (const table of ["query_jobs", "query_data"]) expect(await kept(table)).toBeLessThanOrEqual(1.5 * KEPT_BYTES);
  });

  it("keeps a picture for as long as one of those has room who were shown it", async () => {
    const [shared, own] = [hash("sha256", randomUUID()), hash("sha256", randomUUID())];
    const [one, other] = [newWallet().address.toLowerCase(), newWallet().address.toLowerCase()];
    await market.store.alone(async (sql) => {
      for (const image of [shared, own])
        await sql.run("INSERT INTO query_images (hash, body, expires_at) VALUES ($1, 'AAAA', $2)", [image, 4e12]);
      for (const [image, account] of [
        [shared, one],
        [own, one],
        [shared, other],
      ] as const) {
        await sql.run("INSERT INTO query_image_owners (hash, account, size, expires_at) VALUES ($1, $2, 1000, $3)", [
          image,
          account,
          4e12,
        ]);
      }
    });
    const status = async (image: string) =>
      (await market.app.inject({ url: `/api/v1/query/images/${image}.png` })).statusCode;
    await market.store.alone((sql) => evictKept(sql, one, 500));
    expect([await status(shared), await status(own)]).toEqual([200, 404]);
    await market.store.alone((sql) => evictKept(sql, other, 500));
    expect(await status(shared)).toBe(404);
  });

  it("that goes on from another knows what was asked before", async () => {
    const { run, start, look } = await shop(({ name, args }) =>
      structured(name === "list_stops" ? { stops: [{ town: "Rome", day: `${args.number}` }] } : { weight: 420 }),
    );
    const { result } = await run();
    const { sessionId, attemptId } = result.querySession;
    const { body } = await start({
      query: "And which stops were on its way?",
      // As good as none.
      tools: [],
      resumeFrom: { sessionId, attemptId },
    });
    const { body: job } = await look(body.jobId);
    expect(job).toMatchObject({
      result: {
        response: expect.stringContaining("Rome 7"),
        querySession: {
          sessionId,
          parentAttemptId: attemptId,
          rootAttemptId: attemptId,
          mode: "resume",
          origin: "resume",
        },
      },
    });
    const forked = await start({ query: WEIGHT, forkFrom: { sessionId, attemptId, reason: "manual_fork" } });
    expect(forked.body).toMatchObject({ querySession: { sessionId, mode: "fork", parentAttemptId: attemptId } });
  });

  it("whose tool says what no text can hold fails with its words all the same, at once", async () => {
    const { start, look, buyer } = await shop(() => ({
      isError: true,
      content: [{ type: "text", text: "scales \u0000 are \ud83d broken" }],
    }));
    const { body } = await start();
    const { body: job } = await look(body.jobId);
    expect(job).toMatchObject({ status: "failed", error: expect.stringMatching(/scales are . broken/) });
    expect((job.error as string).isWellFormed()).toBe(true);
    await until("nothing to be held", async () => (await daemon.exposure(buyer.address)).held === 0n);
  });

  it("whose tool fails in words that do something to a terminal fails in words that do nothing", async () => {
    const { start, look } = await shop(() => ({
      isError: true,
      content: [{ type: "text", text: "scales\u001b[2J are \u202ebroken\u0007\r\nsee below" }],
    }));
    const { body } = await start({ includeDeveloperTrace: true });
    const { body: job } = await look(body.jobId);
    expect(job.error).toMatch(/scales \[2J are broken see below\.$/);
  });

  it("is answered with whole characters alone, wherever they are cut and whatever a tool says", async () => {
    const elephants = "🐘".repeat(3_000);
    const { run } = await shop(() => structured({ weight: 420, sender: `a${elephants}`, note: "half \ud83d of one" }));
    const stringsIn = (value: unknown): string[] =>
      typeof value === "string"
        ? [value]
        : typeof value === "object" && value !== null
          ? Object.entries(value).flatMap(([name, one]) => [name, ...stringsIn(one)])
          : [];
    for (const body of [{}, { includeData: true, includeDeveloperTrace: true }, { responseShape: "evidence_only" }]) {
      const { result } = await run(body);
      expect(result.outcomeType).toBe("answer");
      expect(stringsIn(result).filter((text) => !text.isWellFormed())).toEqual([]);
    }
  });

  it("is streamed whole though its tool says what some readers take for the end of a line", async () => {
    const breaks = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029";
    const note = [...breaks].join("line");
    const outputSchema = { type: "object", properties: { note: { type: "string" } } };
    const { server, toolId } = await list([{ ...WEIGH, name: "note_of_parcel", outputSchema }], "Notes");
    server.tool.call = () => structured({ note });
    const shopped = await shop();
    const { events } = await streamed(shopped, { query: "What is the note of parcel number 7?", tools: [toolId] });
    expect(events.at(-1)).toMatchObject({
      type: "done",
      result: { evidence: { facts: [expect.objectContaining({ value: note })] } },
    });
  });

  it("that is not kept any more is nothing to go on from, and says so", async () => {
    const { run, start, look } = await shop();
    const { result, started } = await run();
    const { sessionId, attemptId } = result.querySession;
    const second = await run({ tools: undefined, resumeFrom: { sessionId, attemptId } });
    market.pass(8 * 24 * 60 * 60 * 1_000);
    await until("its turn to be told", async () => (await market.query.tellDue()) === 0);
    await market.query.jobs.forget();
    expect((await look(started.body.jobId)).body).toMatchObject({
      status: "failed",
      error: "the answer is not kept any more",
    });
    for (const from of ["resumeFrom", "forkFrom"]) {
      const handle = { sessionId, attemptId: second.result.querySession.attemptId };
      expect(await start({ tools: undefined, [from]: handle })).toMatchObject({
        status: 404,
        body: { code: "not_found", error: expect.stringContaining("not kept any more") },
      });
    }
  });

  it("has a key that is known for 30 days, longer if the daemon has not heard of its turn, and then nothing is left of it", async () => {
    const DAY_MS = 24 * 60 * 60 * 1_000;
    const { start, look, run, settled } = await shop();
    const [told, untold] = [randomUUID(), randomUUID()];
    const first = await run({}, told);
    await settled(PRICE);
    await until("its turn to be told", async () => (await market.query.tellDue()) === 0);
    const { body } = await start({}, untold);
    await until("it to be answered", async () => (await look(body.jobId)).body.status === "completed");
    await until("its turn to be told", async () => (await market.query.tellDue()) === 0);
    const tellAt = (dueAtMs: number | null) =>
      market.store.alone((sql) =>
        sql.run("UPDATE query_jobs SET turn_due_at = $2 WHERE id = $1", [body.jobId as string, dueAtMs]),
      );
    // As if it were not.
    await tellAt(9e15);
    market.pass(29 * DAY_MS);
    await market.query.jobs.forget();
    expect(await start({}, told)).toMatchObject({ status: 202, body: { jobId: first.started.body.jobId } });
    market.pass(2 * DAY_MS);
    await market.query.jobs.forget();
    expect(await look(first.started.body.jobId)).toMatchObject({ status: 404 });
    expect((await start({}, told)).body.jobId).not.toBe(first.started.body.jobId);
    expect(await start({}, untold)).toMatchObject({ status: 202, body: { jobId: body.jobId } });
    await tellAt(null);
  });

  it("makes a name for the tools that it has paid for, once a turn, and for none if their owner asks", async () => {
    const { run, toolId, owner } = await shop();
    const name = async () => {
      await market.execute.writeCounts();
      await market.catalogue.follow();
      const { paidCalls, payers, calls } = (await market.catalogue.find(toolId)) ?? {};
      return { paidCalls, payers, calls };
    };
    await run({ query: "What is the weight of parcel number 7, and of parcel number 8?" });
    expect(await name()).toMatchObject({ paidCalls: 1, payers: 1 });
    const { calls } = await name();
    const asked = { query: WEIGHT, tools: [toolId], stream: false };
    expect((await market.ask("POST", QUERY, asked, await makeKey(market.ask, owner))).status).toBe(200);
    expect(await name()).toEqual({ paidCalls: 1, payers: 1, calls });
  });

  it("is nobody else's to see or to go on from", async () => {
    const { run } = await shop();
    const { result, started } = await run();
    const stranger = await shop();
    expect((await stranger.look(started.body.jobId)).status).toBe(404);
    const { sessionId, attemptId } = result.querySession;
    expect((await stranger.start({ tools: undefined, resumeFrom: { sessionId, attemptId } })).status).toBe(404);
    for (const id of ["x", "%00", "x".repeat(400), randomUUID()]) expect((await stranger.look(id)).status).toBe(404);
  });

  it("costs no more than its asker, or else the account, has said", async () => {
    const { key, post, toolId } = await shop(undefined, 2_000_000n);
    await market.ask("POST", "/api/v1/favorites", { toolId }, key);
    const found = { tools: undefined, favoritesOnly: true };
    // A dollar, where nobody says anything.
    const plain = await post(QUERY, { ...found, stream: false });
    expect(plain.body).toMatchObject({
      outcomeType: "capability_miss",
      grounding: { selectedButFilteredOut: expect.arrayContaining(["Parcels.weigh_parcel"]) },
    });
    await market.ask("PATCH", "/api/v1/account", { maxQueryCostUsd: "3" }, key);
    expect((await post(QUERY, { tools: [toolId], stream: false })).body).toMatchObject({
      cost: { totalCostUsd: "2.00" },
    });
    expect((await post(QUERY, { tools: [toolId], stream: false, maxCostUsd: "1" })).status).toBe(400);
  });

  it("is owed though a price was lowered while it ran, and never more than the price, however often it is told", async () => {
    const { server, toolId, start, look, settled, owed } = await shop();
    // Whoever asks may own one of the tools, and have the answer of the others for lowering its price.
    const own = await list([POSTAGE], "Stamps", PRICE);
    for (const id of [toolId, own.toolId]) daemon.list(id, PRICE);
    server.tool.call = () => {
      daemon.list(own.toolId, 10_000n);
      return structured({ weight: 420 });
    };
    own.server.tool.call = () => structured({ postage: 300 });
    const { body } = await start({ tools: [toolId, own.toolId], query: WEIGHT_AND_POSTAGE });
    expect((await look(body.jobId)).body).toMatchObject({
      status: "completed",
      result: { toolsUsed: [{ skillCalls: 1 }, { skillCalls: 1 }], cost: { totalCostUsd: "0.10" } },
    });
    await settled(PRICE + 10_000n);
    const [row] = await market.store.read.all("SELECT turn FROM query_jobs WHERE id = $1", [body.jobId as string]);
    const again = () => market.settlement.recordTurn(JSON.parse(row?.turn as string));
    for (const price of [10_000n, 5_000n, PRICE]) {
      daemon.list(own.toolId, price);
      await again();
    }
    expect(await owed()).toBe(PRICE + 10_000n);
  });

  it("that was delivered while the daemon was away is recorded when it is back, once", async () => {
    const { start, look, owed, settled, server } = await shop(async () => {
      daemon.state.away = true;
      return structured({ weight: 420 });
    });
    const { body } = await start();
    const { body: job } = await look(body.jobId);
    expect(job.status).toBe("completed");
    await until("the first try to fail", async () => {
      const [row] = await market.store.read.all("SELECT turn_attempts FROM query_jobs WHERE id = $1", [
        body.jobId as string,
      ]);
      return row?.turn_attempts === 1n;
    });
    daemon.state.away = false;
    expect(await owed()).toBe(0n);
    market.pass(60_000);
    expect(await market.query.tellDue()).toBe(0);
    await settled(PRICE);
    market.pass(60_000);
    await market.query.tellDue();
    expect(await owed()).toBe(PRICE);
    expect(server.state.calls).toBe(1);
  });

  it("that a process left behind is failed if it was begun, taken over if it was not, and never charged twice", async () => {
    const release = Promise.withResolvers<void>();
    const shopped = await shop(async () => {
      await release.promise;
      return structured({ weight: 420 });
    });
    const begun = await shopped.start();
    await until("the call", () => shopped.server.state.calls === 1);
    const account = shopped.buyer.address.toLowerCase();
    // As if a process had died right after it took this one.
    const queued = randomUUID();
    await market.store.alone((sql) =>
      sql.run(
        `INSERT INTO query_jobs (id, account, digest, session_id, root_id, mode, request, origin, status, holder, lapses_at,
           reserved, turn_attempts, created_at, updated_at)
         SELECT $1, account, digest, session_id, $1, mode, request, origin, 'queued', 'dead', 0, reserved, 0, created_at, updated_at
         FROM query_jobs WHERE id = $2`,
        [queued, begun.body.jobId as string],
      ),
    );
    if (database === undefined) throw new Error("there is no database");
    const other = await openMarketplace(database, { daemonUrl: daemon.url, holder: "other" });
    try {
      await other.catalogue.follow();
      market.pass(120_000);
      other.pass(60 * 24 * 60 * 60 * 1_000);
      await other.query.jobs.keepAlive();
      expect((await shopped.look(begun.body.jobId)).body).toMatchObject({
        status: "failed",
        error: expect.stringContaining("interrupted"),
      });
      // What the first one held is given back, and the other one holds as much again before it begins.
      await until("what it held to be given back", async () => {
        const ended = await daemon.ledger.findTurnHold(begun.body.jobId as string);
        const taken = await daemon.ledger.findTurnHold(queued);
        return ended === null && taken?.amount === PRICE;
      });
      release.resolve();
      await until("the one that was not begun to be answered", async () => {
        const [row] = await market.store.read.all("SELECT status FROM query_jobs WHERE id = $1", [queued]);
        return row?.status === "completed";
      });
      await shopped.settled(PRICE);
      // The first one came to its end meanwhile, and was told that it had been taken for dead.
      await until("the first to be done", () => market.query.jobs.progressOf(begun.body.jobId as string) === null);
      const charges = await daemon.ledger.listChargesOf({ turnId: begun.body.jobId as string });
      expect(charges).toEqual([]);
      expect(account).toMatch(/^0x/);
    } finally {
      await other.close();
    }
  });
});

it("questions and their jobs are kept waiting for a while before they are refused, and refuse nothing else", async () => {
  const [sqlite] = backends;
  if (sqlite === undefined) throw new Error("there is no database");
  const database = await sqlite.create();
  const paced = await openMarketplace(database, { rateLimitPerSecond: 10 });
  try {
    const key = await makeKey(paced.ask, newWallet());
    const ask = async (url: string) =>
      (await paced.app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode;
    // No time passes for the marketplace between these, so that every one above the burst of twenty waits.
    const looks = await Promise.all(Array.from({ length: 25 }, () => ask(`${JOBS}/${randomUUID()}`)));
    expect(new Set(looks)).toEqual(new Set([404]));
    expect(await ask(`/api/v1/tools/${randomUUID()}`)).toBe(404);
    const flood = await Promise.all(Array.from({ length: 100 }, () => ask(`${JOBS}/${randomUUID()}`)));
    expect(flood.filter((status) => status === 429)).toHaveLength(55);
  } finally {
    await paced.close();
    await database.remove();
  }
});

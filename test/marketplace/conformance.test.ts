import { randomUUID, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, importX509, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../marketplace/mcp/testing/startServer.ts";
import { createClient } from "../../scripts/client/createClient.ts";
import { makeApiKey, registerTool } from "../../scripts/marketplace/asWallet.ts";
import { type MarketPrograms, startMarket, startMarketplaceProgram } from "../../scripts/marketplace/startMarket.ts";
import { until } from "../../scripts/waiting/until.ts";
import { type LocalWorld, startWorld } from "../../scripts/world/startWorld.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../settlement/ledger/testing/diskless.ts";
import { type FrontDoor, startFrontDoor } from "./startFrontDoor.ts";
import { GAS, startTool, structured, type ToolServer } from "./startTool.ts";
import { ContextError, createStrictClient } from "./strictClient.ts";

const PUBLIC_URL = "https://market.example";
const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";
const METRICS_TOKEN = "metrics-token-of-the-tests-0123456789";

// Programs as in production, on a chain with the real contracts, asked by a client that is as strict as the public SDKs.
describe("a client of the public SDKs", () => {
  const folder = mkdtempSync(join(DISKLESS, "conformance-"));
  let world: LocalWorld;
  let market: MarketPrograms;
  // Between the world and the marketplace, and between the marketplace and the daemon.
  let [front, back]: FrontDoor[] = [];
  let [tool, broken]: ToolServer[] = [];
  let toolId: string;
  let client: ReturnType<typeof createStrictClient>;
  let owner: ReturnType<typeof createStrictClient>;
  let key: string;
  const METHODS = [
    { ...GAS, name: "add", inputSchema: { type: "object", properties: { a: { type: "number" } } } },
    { ...GAS, name: "for_answers", _meta: { surface: "answer" } },
  ];

  beforeAll(async () => {
    world = await startWorld({ tools: 2, payers: 2 });
    front = await startFrontDoor();
    back = await startFrontDoor();
    market = await startMarket(world, folder, {
      serviceToken: SERVICE_TOKEN,
      publicUrl: PUBLIC_URL,
      marketplace: { MARKETPLACE_SETTLEMENT_URL: back.url, MARKETPLACE_METRICS_TOKEN: METRICS_TOKEN },
    });
    back.open(market.daemonUrl);
    front.open(market.url);
    const ask = createClient({ url: market.url, serviceToken: "" });
    tool = await startTool({ methods: METHODS });
    broken = await startTool({
      methods: [{ name: "odd", _meta: { surface: 1, pricing: { executeUsd: -1 }, rateLimit: "none" } }],
      open: true,
    });
    const [good, odd] = world.tools;
    const [buyer] = world.payers;
    if (good === undefined || odd === undefined || buyer === undefined) throw new Error("the world is too small");
    toolId = uuidFromToolId(good.toolId);
    const listed = await registerTool(ask, good.developer, {
      toolId,
      endpoint: tool.url,
      name: "Arithmetic",
      description: "Adds numbers",
      category: "Utility",
    });
    expect(listed).toMatchObject({ listed: true });
    const described = {
      toolId: uuidFromToolId(odd.toolId),
      endpoint: broken.url,
      name: "Odd",
      description: "Adds oddly",
    };
    // Its listing price makes it a paid tool, which has to promise something and to refuse whoever has no token.
    expect(await registerTool(ask, odd.developer, described)).toMatchObject({ listed: false });
    broken.state.open = false;
    broken.state.methods = [
      {
        ...GAS,
        name: "odd",
        _meta: { surface: 1, pricing: { executeUsd: -1 }, rateLimit: "none", rate_limit_hints: "none", "\ud800": 1 },
      },
    ];
    expect(await registerTool(ask, odd.developer, described)).toMatchObject({ listed: true });
    key = await makeApiKey(ask, buyer, "conformance");
    client = createStrictClient(market.url, key);
    owner = createStrictClient(market.url, await makeApiKey(ask, good.developer, "owner"));
  });
  afterAll(async () => {
    await market?.stop();
    await tool?.close();
    await broken?.close();
    await front?.close();
    await back?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const toolServer = () => tool as ToolServer;
  const answer = (call: ToolServer["tool"]["call"]) => {
    const server = toolServer();
    if (call === undefined) throw new Error("there is no answer");
    server.state.calls = 0;
    server.tool.call = call;
    return server;
  };

  it("gets on with every method of sessions, execute, discovery and developers", async () => {
    answer(() => structured({ value: 3 }));
    const { session } = await client.tools.startSession({ maxSpendUsd: "0.01" });
    const sessionId = session.sessionId ?? "";
    const bought = await client.tools.execute({ toolId, toolName: "add", args: { a: 1 }, sessionId });
    expect(bought).toMatchObject({ result: { value: 3 }, session: { spent: "0.001", remaining: "0.009" } });
    expect((await client.tools.getSession(sessionId)).session).toMatchObject({ spent: "0.001", status: "open" });
    expect((await client.tools.closeSession(sessionId)).session).toMatchObject({
      status: "closed",
      closeRequested: true,
      pendingAccruedCount: 0,
    });
    expect((await client.tools.closeSession(sessionId)).session.status).toBe("closed");
    expect(await client.tools.execute({ toolId, toolName: "add" })).toMatchObject({ session: { sessionId: null } });

    const searched = await client.discovery.search({
      q: "arithmetics",
      limit: "5",
      mode: "execute",
      excludeLatency: "slow",
    });
    expect(searched.tools.map(({ id, mcpTools }) => [id, mcpTools?.map(({ name }) => name)])).toEqual([
      [toolId, ["add"]],
    ]);
    const featured = await client.discovery.search({ limit: "nonsense" });
    expect(featured).toMatchObject({ query: "", count: 2 });
    expect(await client.discovery.search({ limit: "" })).toMatchObject({ count: 2 });
    expect(await client.discovery.search({ limit: "-3" })).toMatchObject({ count: 1 });
    const shown = await client.discovery.get(toolId);
    expect(shown.mcpTools).toHaveLength(2);
    const update = { suggestedPrompts: [{ text: "What is one and one?", source: "contributor" }] };
    expect(await owner.developer.updateTool(toolId, update)).toMatchObject(update);
    expect((await client.discovery.get(toolId)).suggestedPrompts).toEqual(update.suggestedPrompts);
    await expect(client.developer.updateTool(toolId, update)).rejects.toMatchObject({ statusCode: 403 });
  });

  it("may send null for what was not given, as the Python SDK does, and fields that it has no more", async () => {
    answer(() => structured({ value: 3 }));
    const unsaid = { sessionId: null, maxSpendUsd: null, closeSession: null };
    const bought = await client.tools.execute({ toolId, toolName: "add", args: {}, ...unsaid, queryDepth: "deep" });
    expect(bought).toMatchObject({ result: { value: 3 }, session: { sessionId: null, spent: "0.001" } });
    // Under one key it is the same as saying nothing.
    const idempotencyKey = randomUUID();
    const said = await client.tools.execute({ toolId, toolName: "add", args: {}, ...unsaid, idempotencyKey });
    expect(await client.tools.execute({ toolId, toolName: "add", idempotencyKey })).toEqual(said);
  });

  it("searches by the names on the wire: excludeLatency with commas, favorites_only with an underscore", async () => {
    const ids = async (parameters: Record<string, string>) =>
      (await client.discovery.search(parameters)).tools.map(({ id }) => id);
    const ask = createClient({ url: market.url, serviceToken: "" });
    expect(await ids({ q: "adds", excludeLatency: "instant,streaming" })).toContain(toolId);
    expect(await ids({ q: "adds", excludeLatency: "fast,slow" })).toEqual([]);
    // Under the names of the options nothing is filtered.
    expect(await ids({ q: "adds", excludeLatencyClasses: "fast,slow", favoritesOnly: "true" })).toContain(toolId);
    expect(await ids({ q: "adds", favorites_only: "true" })).toEqual([]);
    expect((await ask("POST", "/api/v1/favorites", { toolId }, { key })).status).toBe(200);
    expect(await ids({ q: "adds", favorites_only: "true" })).toEqual([toolId]);
    expect((await ask("DELETE", `/api/v1/favorites?toolId=${toolId}`, undefined, { key })).status).toBe(200);
  });

  it("asks for what cannot be an id and gets a sentence, never a server error", async () => {
    for (const id of ["a/b", "%00", "\0", "x".repeat(400), "..%2F", randomUUID()]) {
      await expect(client.discovery.get(id)).rejects.toMatchObject({ statusCode: 404, code: "not_found" });
      const error: ContextError = await client.tools.getSession(id).catch((thrown) => thrown);
      expect([id, error.statusCode]).toEqual([id, 404]);
    }
    expect(client.sent.every(({ status }) => status < 500)).toBe(true);
  });

  it("is told of a failing tool once under a key, because it is no server error", async () => {
    const server = answer(() => ({ isError: true, content: [{ type: "text", text: "no" }] }));
    client.sent.length = 0;
    const asked = client.tools.execute({ toolId, toolName: "add", idempotencyKey: randomUUID() });
    await expect(asked).rejects.toMatchObject({
      statusCode: 422,
      code: "execution_failed",
      message: "Tool execution failed: no",
    });
    expect(client.sent).toHaveLength(1);
    expect(server.state.calls).toBe(1);
  });

  it("gets the same session under the same key if the first answer was lost", async () => {
    const once = randomUUID();
    const first = await client.tools.startSession({ maxSpendUsd: "1" }, once);
    const again = await client.tools.startSession({ maxSpendUsd: "1" }, once);
    expect(again.session.sessionId).toBe(first.session.sessionId);
    expect(client.sent.at(-1)).toMatchObject({ replayed: true });
    await expect(client.tools.startSession({ maxSpendUsd: "2" }, once)).rejects.toMatchObject({ statusCode: 409 });
  });

  it("is answered through two 503s, and gives up after four", async () => {
    const { session } = await client.tools.startSession({ maxSpendUsd: "0.01" });
    const id = session.sessionId ?? "";
    back?.shut();
    const patient = createStrictClient(market.url, key, ({ length }) => {
      if (length === 6) back?.open(market.daemonUrl);
    });
    await expect(patient.tools.getSession(id)).rejects.toMatchObject({ statusCode: 503, code: "unavailable" });
    expect(patient.sent.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    expect(patient.waitedMs).toEqual([1_000, 2_000, 4_000]);
    expect((await patient.tools.getSession(id)).session.sessionId).toBe(id);
    expect(patient.sent.slice(4).map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(patient.waitedMs.slice(3)).toEqual([1_000, 2_000]);
  });

  it("repeats a call under a key through 503s, of which none reaches the tool, and starts no session twice", async () => {
    const server = answer(() => structured({ value: 1 }));
    const impatient = createStrictClient(market.url, key);
    const request = { toolId, toolName: "add", idempotencyKey: randomUUID() };
    back?.shut();
    await expect(impatient.tools.execute(request)).rejects.toMatchObject({ statusCode: 503 });
    expect(impatient.sent).toHaveLength(4);
    await expect(impatient.tools.startSession({ maxSpendUsd: "1" })).rejects.toMatchObject({ statusCode: 503 });
    expect(impatient.sent).toHaveLength(5);
    expect(server.state.calls).toBe(0);
    back?.open(market.daemonUrl);
    expect((await impatient.tools.execute(request)).result).toEqual({ value: 1 });
    expect(server.state.calls).toBe(1);
  });

  it("is told once that it asks too often, and repeats nothing", async () => {
    const ask = createClient({ url: market.url, serviceToken: "" });
    const [, other] = world.payers;
    if (other === undefined) throw new Error("the world is too small");
    const hasty = createStrictClient(market.url, await makeApiKey(ask, other, "hasty"));
    const asked = Array.from({ length: 200 }, () => hasty.discovery.search({ q: "adds" }));
    const refused = (await Promise.allSettled(asked)).flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ statusCode: 429, code: "rate_limited" });
    expect(hasty.waitedMs).toEqual([]);
    expect(hasty.sent).toHaveLength(asked.length);
  });

  it("repeats what something before the marketplace answers in HTML, and then knows nothing but its status", async () => {
    const proxy = await startServer((_, response) => {
      response.writeHead(500, { "content-type": "text/html" }).end("<html><h1>Internal Server Error</h1></html>");
    });
    try {
      const far = createStrictClient(`http://127.0.0.1:${proxy.port}`, key);
      const message = "HTTP 500: Internal Server Error";
      await expect(far.discovery.search({ q: "adds" })).rejects.toMatchObject({ message, code: undefined });
      const request = { toolId, toolName: "add", idempotencyKey: randomUUID() };
      await expect(far.tools.execute(request)).rejects.toMatchObject({ message, statusCode: 500 });
      expect(far.sent).toHaveLength(8);
      expect(far.waitedMs).toEqual([1_000, 2_000, 4_000, 1_000, 2_000, 4_000]);
      await expect(far.tools.startSession({ maxSpendUsd: "1" })).rejects.toMatchObject({ message });
      expect(far.sent).toHaveLength(9);
    } finally {
      await proxy.close();
    }
  });

  it("is told the mode of a search, and of each tool in percents and of each method in _meta what it asks for", async () => {
    answer(() => structured({ value: 3 }));
    await client.tools.execute({ toolId, toolName: "add" });
    expect(await client.discovery.search({ q: "adds" })).toMatchObject({ mode: "query" });
    const { mode, tools } = await client.discovery.search({ q: "adds", mode: "execute" });
    expect(mode).toBe("execute");
    expect(tools[0]?.mcpTools?.[0]).toMatchObject({
      executeEligible: true,
      executePriceUsd: "0.001",
      _meta: { executeEligible: true, executePriceUsd: "0.001", pricing: { executeUsd: "0.001" } },
    });
    await until("the call to be counted", async () => (await client.discovery.get(toolId)).successRate !== undefined);
    const priced = { suggestedPrompts: [{ text: "Add", source: "contributor" as const, priceHint: "$0.001" }] };
    await owner.developer.updateTool(toolId, priced);
    expect(await client.discovery.get(toolId)).toMatchObject(priced);
  });

  it("reads a sentence and a code in JSON for every error, whatever was sent", async () => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const post = (body: string, more = {}) => ({ method: "POST", headers: { ...headers, ...more }, body });
    const requests: [string, RequestInit, number][] = [
      ["/api/v1/nothing", { headers }, 404],
      ["/api/v1/tools/execute", { method: "PUT", headers, body: "{}" }, 404],
      ["/api/v1/tools/execute", post("{"), 400],
      ["/api/v1/tools/execute", post("[]"), 400],
      ["/api/v1/tools/execute", post("null"), 400],
      ["/api/v1/tools/execute", post("a=b", { "content-type": "text/html" }), 415],
      ["/api/v1/tools/execute", post(JSON.stringify({ args: "x".repeat(1_100_000) })), 413],
      ["/api/v1/query", post(JSON.stringify({ stream: true })), 400],
      ["/api/v1/query/jobs", post(JSON.stringify({ query: 7 })), 400],
    ];
    for (const [path, init, status] of requests) {
      const response = await fetch(market.url + path, init);
      const body = (await response.json()) as { error: unknown; code: unknown };
      expect([path, response.status, typeof body.error, typeof body.code]).toEqual([path, status, "string", "string"]);
      expect(response.headers.get("content-type")).toContain("application/json");
    }
  });

  it("is answered again if an answer under a key was lost, and has bought once", async () => {
    const server = answer(() => structured({ value: 7 }));
    const far = createStrictClient(front?.url ?? "", key);
    front?.lose(2);
    const bought = await far.tools.execute({ toolId, toolName: "add", idempotencyKey: randomUUID() });
    expect(bought.result).toEqual({ value: 7 });
    expect(far.sent).toMatchObject([{ status: 200, replayed: true }]);
    expect(server.state.calls).toBe(1);
    front?.lose(1);
    const { session } = await far.tools.startSession({ maxSpendUsd: "1" }, randomUUID());
    expect(far.sent.at(-1)).toMatchObject({ replayed: true });
    expect((await far.tools.getSession(session.sessionId ?? "")).session.status).toBe("open");
  });

  it("sees no field error in a success, not even of a tool that answers with one, and whole milliseconds", async () => {
    answer(() => structured({ value: 1, error: null, durationMs: 1.5 }));
    const bought = await client.tools.execute({ toolId, toolName: "add" });
    expect(bought.result).toEqual({ value: 1, error: null, durationMs: 1.5 });
    expect(Object.keys(bought)).not.toContain("error");
    expect(Number.isInteger(bought.durationMs)).toBe(true);
    const { session } = await client.tools.startSession({ maxSpendUsd: "1" });
    for (const shown of [
      await client.tools.getSession(session.sessionId ?? ""),
      await client.tools.closeSession(session.sessionId ?? ""),
    ]) {
      expect(Object.keys(shown)).not.toContain("error");
    }
  });

  it("names a request by any text that a header can hold", async () => {
    const server = answer(() => structured({ value: 7 }));
    const long = `step 2 of "order/17", café ${randomUUID()} ${"x".repeat(2_000)}`;
    const buy = (idempotencyKey: string, a: number) =>
      client.tools.execute({ toolId, toolName: "add", args: { a }, idempotencyKey });
    expect(await buy(long, 1)).toEqual(await buy(long, 1));
    expect(server.state.calls).toBe(1);
    await expect(buy(long, 2)).rejects.toMatchObject({ statusCode: 409, code: "idempotency_conflict" });
    // Only its last character is another.
    await buy(`${long.slice(0, -1)}y`, 2);
    expect(server.state.calls).toBe(2);
    const question = { query: "Add what?", tools: [toolId], idempotencyKey: long };
    const { jobId } = await client.query.start(question);
    expect((await client.query.start(question)).jobId).toBe(jobId);
    // What it calls is nothing to the next test.
    await client.query.poll(jobId);
  });

  it("makes one call of two that arrive together under one key, and is answered twice", async () => {
    const release = Promise.withResolvers<void>();
    const server = answer(async () => {
      await release.promise;
      return structured({ value: 1 });
    });
    const request = { toolId, toolName: "add", idempotencyKey: randomUUID() };
    const both = Promise.all([client.tools.execute(request), client.tools.execute(request)]);
    await until("the call", () => server.state.calls === 1);
    release.resolve();
    const [first, second] = await both;
    expect(second).toEqual(first);
    expect(server.state.calls).toBe(1);
  });

  it("gets results of five megabytes", async () => {
    const large = { value: 1, text: "é".repeat(2_500_000) };
    answer(() => structured(large));
    const { result } = await client.tools.execute({ toolId, toolName: "add" });
    expect(result).toEqual(large);
  });

  it("buys in parallel within a session's budget and no further", async () => {
    const server = answer(() => structured({ value: 1 }));
    const { session } = await client.tools.startSession({ maxSpendUsd: "0.004" });
    const calls = Array.from({ length: 10 }, () =>
      client.tools.execute({ toolId, toolName: "add", sessionId: session.sessionId }),
    );
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "session_budget_exceeded" });
    }
    expect(server.state.calls).toBe(4);
  });

  it("is not disturbed by a contributor whose _meta is broken", async () => {
    const { tools } = await client.discovery.search({ q: "oddly" });
    expect(tools).toMatchObject([{ name: "Odd", mcpTools: [{ _meta: { surface: "both" }, executePriceUsd: null }] }]);
  });

  it.each([
    [{ toolName: "nothing" }, "invalid_tool_method"],
    [{ toolName: "for_answers" }, "method_not_execute_eligible"],
    [{ toolName: "add", maxSpendUsd: "-1" }, "invalid_max_spend"],
    [{ toolName: "add", sessionId: "none" }, "session_not_found"],
  ])("is told in a code what to change: %j is %s", async (body, code) => {
    const error: ContextError = await client.tools.execute({ toolId, ...body }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ContextError);
    expect([error.code, error.statusCode < 500]).toEqual([code, true]);
  });

  it("hands a method that asks for it what the chain says of the buyer's wallet", async () => {
    let seen: unknown;
    const server = answer(({ args }) => {
      seen = args.wallet;
      return structured({ value: 1 });
    });
    server.state.methods = [
      ...METHODS,
      { ...GAS, name: "advise", _meta: { contextRequirements: ["wallet"], pricing: { executeUsd: "0.001" } } },
    ];
    const ask = createClient({ url: market.url, serviceToken: "" });
    const [good] = world.tools;
    const [buyer] = world.payers;
    if (good === undefined || buyer === undefined) throw new Error("the world is too small");
    const ownerKey = await makeApiKey(ask, good.developer, "refresh");
    const refreshed = await ask("POST", `/api/v1/tools/${toolId}/refresh`, undefined, { key: ownerKey });
    expect(refreshed.body).toMatchObject({ listed: true });
    await client.tools.execute({ toolId, toolName: "advise", args: { wallet: "richer" } });
    expect(seen).toMatchObject({
      address: buyer.address.toLowerCase(),
      chainId: world.chainId,
      nativeBalance: expect.stringMatching(/^[\d.]+$/),
      tokens: [{ symbol: "USDC", decimals: 6, balance: expect.stringMatching(/^[\d.]+$/) }],
    });
  });

  it("finds the process healthy, ready and measured", async () => {
    const ask = createClient({ url: market.url, serviceToken: "" });
    expect((await ask("GET", "/health")).body).toEqual({ status: "ok" });
    expect(await ask("GET", "/ready")).toMatchObject({
      body: { components: { database: { ok: true }, chain: { ok: true } } },
    });
    expect((await ask("GET", "/metrics", undefined, { key: null })).status).toBe(401);
    const { text } = await ask("GET", "/metrics", undefined, { key: METRICS_TOKEN });
    expect(text).toMatch(/marketplace_call_seconds_count\{outcome="delivered"\} \d+/);
    expect(market.marketplace.output()).not.toContain(SERVICE_TOKEN);
    expect(market.marketplace.output()).not.toContain(key);
  });

  it("without a key searches and reads, and does nothing else", async () => {
    const ask = createClient({ url: market.url, serviceToken: "" });
    const none = { key: null };
    expect((await ask("GET", "/api/v1/tools/search?q=adds", undefined, none)).status).toBe(200);
    expect((await ask("GET", `/api/v1/tools/${toolId}`, undefined, none)).status).toBe(200);
    for (const [method, path] of [
      ["POST", "/api/v1/tools/execute"],
      ["POST", "/api/v1/tools/execute/sessions"],
      ["PATCH", `/api/v1/tools/${toolId}`],
      ["POST", `/api/v1/tools/${toolId}/refresh`],
      ["GET", "/api/v1/keys"],
      ["GET", "/api/v1/account"],
    ] as const) {
      const reply = await ask(method, path, method === "GET" ? undefined : {}, none);
      expect([path, reply.status, reply.body.code]).toEqual([path, 401, "unauthorized"]);
    }
    const wrong = createStrictClient(market.url, `sk_live_${"x".repeat(43)}`);
    await expect(wrong.discovery.search({ q: "adds" })).rejects.toMatchObject({
      statusCode: 401,
      code: "unauthorized",
    });
  });

  it("tools are shown tokens that the published keys stand by, and that are good for one endpoint", async () => {
    let token = "";
    answer(({ request }) => {
      token = request.headers.authorization?.slice("Bearer ".length) ?? "";
      return structured({ value: 1 });
    });
    await client.tools.execute({ toolId, toolName: "add" });
    const url = new URL(`${market.url}/.well-known/jwks.json`);
    const { keys } = (await (await fetch(url)).json()) as { keys: { n: string; e: string; x5c: string[] }[] };
    expect(keys.every(({ n, e, x5c }) => n !== "" && e !== "" && x5c.length === 1)).toBe(true);
    const audience = toolServer().url;
    const expected = { issuer: PUBLIC_URL, audience };
    const { payload } = await jwtVerify(token, createRemoteJWKSet(url), expected);
    expect(payload).toMatchObject({ toolId, aud: audience, exp: (payload.iat ?? 0) + 120 });
    // As the public SDK reads it: from the first key's certificate alone.
    const certificate = new X509Certificate(Buffer.from(keys[0]?.x5c[0] ?? "", "base64")).toString();
    await jwtVerify(token, await importX509(certificate, "RS256"), expected);
    for (const other of [`${audience}/`, broken?.url ?? ""]) {
      await expect(jwtVerify(token, createRemoteJWKSet(url), { ...expected, audience: other })).rejects.toThrow();
    }
  });

  it("tools are called by one message at a time, with a header that their SDK takes and times that it demands", async () => {
    const seen: { header: string; message: unknown }[] = [];
    answer(({ request, message }) => {
      seen.push({ header: request.headers.authorization ?? "", message });
      return structured({ value: 1 });
    });
    await Promise.all(Array.from({ length: 5 }, () => client.tools.execute({ toolId, toolName: "add" })));
    expect(seen).toHaveLength(5);
    for (const { header, message } of seen) {
      // A list of messages would pass the SDK's middleware unseen, and `bearer` is refused by it.
      expect(Array.isArray(message)).toBe(false);
      expect(header).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
      const claims = decodeJwt(header.slice("Bearer ".length));
      expect(claims).toMatchObject({ iss: PUBLIC_URL, iat: expect.any(Number), exp: expect.any(Number) });
      expect(decodeProtectedHeader(header.slice("Bearer ".length)).alg).toBe("RS256");
    }
  });

  it("repeats a call whose marketplace was killed, and learns that it failed and cost nothing", async () => {
    const server = answer(() => undefined);
    const request = { toolId, toolName: "add", idempotencyKey: randomUUID() };
    const [buyer] = world.payers;
    const lost = client.tools.execute(request).catch((error) => error);
    await until("the call", () => server.state.calls === 1);
    await market.marketplace.kill();
    await lost;
    const back = await startMarketplaceProgram(market.environment);
    try {
      const again = createStrictClient(back.url, key);
      await expect(again.tools.execute(request)).rejects.toMatchObject({ statusCode: 422, code: "execution_failed" });
      await expect(again.tools.execute(request)).rejects.toMatchObject({ statusCode: 422 });
      expect(server.state.calls).toBe(1);
      const daemon = createClient({ url: market.daemonUrl, serviceToken: SERVICE_TOKEN });
      await until("the hold to be given up", async () => {
        const { body } = await daemon("GET", `/v1/payers/${buyer?.address.toLowerCase()}`);
        return body.heldUsd === "0.00";
      });
    } finally {
      await back.program.stop();
    }
  });
});

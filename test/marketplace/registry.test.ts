import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createCatalogue } from "../../marketplace/discovery/createCatalogue.ts";
import { findListing, saveStanding } from "../../marketplace/registry/listings.ts";
import { until } from "../../scripts/waiting/until.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { makeKey, openMarketplace, register, standing } from "./openMarketplace.ts";
import { GAS, OUTPUT, startTool, structured, type ToolServer } from "./startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe.each(backends)("registration, on $name", ({ name, create }) => {
  let database: Store;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  const servers: ToolServer[] = [];
  beforeAll(async () => {
    database = await create();
    market = await openMarketplace(database);
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(async () => {
    await market.close();
    await database.remove();
  });

  const serve = async (options: Parameters<typeof startTool>[0] = {}) => {
    const server = await startTool(options);
    servers.push(server);
    return server;
  };
  // A tool that its owner has listed and staked on chain.
  const toolOf = (owner = newWallet(), terms: Parameters<typeof standing>[1] = {}) => {
    const toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address, terms));
    return { toolId, owner };
  };
  const describeTool = (toolId: string, endpoint: string, more: object = {}) => ({
    toolId,
    endpoint,
    name: "Gas",
    description: "Gas prices of Base",
    category: "Crypto & DeFi",
    ...more,
  });
  const find = (text: string) => market.ask("GET", `/api/v1/tools/search?q=${encodeURIComponent(text)}`);
  const checksIn = (body: Record<string, unknown>) =>
    Object.fromEntries(
      (body.checks as { check: string; ok: boolean; say: string }[]).map(({ check, ok, say }) => [check, ok || say]),
    );

  it("lists what its owner signs, once its server has shown that it works", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve({ toolIds: [toolId] });
    const { status, body } = await register(market.ask, owner, describeTool(toolId, server.url));
    expect(status).toBe(200);
    expect(checksIn(body)).toEqual({
      ...{ stake: true, connect: true, identity: true, schemas: true, calls: true, tokens: true },
    });
    expect(body).toMatchObject({
      listed: true,
      warnings: [],
      tool: { id: toolId, name: "Gas", price: "0.00", totalStaked: "10.00" },
    });
    const shown = await market.ask("GET", `/api/v1/tools/${toolId}`);
    expect(shown.body).toMatchObject({
      mcpTools: [
        { name: "get_gas_prices", executeEligible: true, executePriceUsd: "0.001", _meta: { surface: "both" } },
      ],
    });
    expect((await find("gas price")).body.tools).toContainEqual(shown.body);
  });

  it.each(["\n", "\t", " ", "\u0000", "\u001b[2J", "\u202e", "\u2028", "é", "\ud800"])(
    "an endpoint with %j in it, which some readers drop and others show otherwise, is no endpoint",
    async (character) => {
      const { toolId } = toolOf();
      const server = await serve();
      for (const endpoint of [
        server.url + character,
        character + server.url,
        server.url.replace("mcp", `m${character}cp`),
      ]) {
        const { status, body } = await market.ask("POST", "/api/v1/tools/challenge", describeTool(toolId, endpoint));
        expect([endpoint, status, body.error]).toEqual([endpoint, 400, expect.stringContaining("endpoint must")]);
      }
    },
  );

  it("lists nothing for anybody but the owner on chain", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    const described = describeTool(toolId, server.url);
    const { body } = await market.ask("POST", "/api/v1/tools/challenge", described);
    const message = body.message as string;
    const send = async (wallet: typeof owner, text = message, changed: object = {}) =>
      market.ask("POST", "/api/v1/tools", {
        ...described,
        ...changed,
        message: text,
        signature: await wallet.signMessage({ message: text }),
      });
    expect(await send(newWallet())).toMatchObject({ status: 401 });
    const thief = newWallet();
    const own = (await market.ask("POST", "/api/v1/tools/challenge", described)).body.message as string;
    expect(await send(thief, own.replace(owner.address, thief.address))).toMatchObject({ status: 403 });
    const next = (await market.ask("POST", "/api/v1/tools/challenge", described)).body.message as string;
    expect(await send(owner, next, { endpoint: "https://evil.example/mcp" })).toMatchObject({ status: 401 });
    expect(await market.ask("GET", `/api/v1/tools/${toolId}`)).toMatchObject({ status: 404 });
    expect(server.state.calls).toBe(0);
  });

  it.each([
    ["a server that is not there", { down: true }, {}, "connect", /did not list its methods/],
    ["a server without methods", { methods: [] }, {}, "connect", /at least one/],
    [
      "a paid method without a promise",
      { methods: [{ ...GAS, outputSchema: undefined }] },
      {},
      "schemas",
      /must declare an outputSchema/,
    ],
    [
      "a promise that is no object",
      { methods: [{ ...GAS, outputSchema: { type: "array" } }] },
      {},
      "schemas",
      /"type": "object"/,
    ],
    [
      "an answer that breaks its promise",
      { call: () => structured({ value: "high" }) },
      {},
      "calls",
      /\/value must be number/,
    ],
    [
      "a method that fails",
      { call: () => ({ isError: true, content: [{ type: "text", text: "no key" }] }) },
      {},
      "calls",
      /no key/,
    ],
    ["a paid tool that answers anybody", { open: true }, {}, "tokens", /was not refused/],
    ["a stake that is too small", {}, { stake: 9_999_999n }, "stake", /npx hardhat stake/],
  ])("tells the contributor of %s what to do", async (_, options, terms, check, said) => {
    const { toolId, owner } = toolOf(newWallet(), terms);
    const server = await serve(options as object);
    if ("down" in options) await server.close();
    const { body } = await register(market.ask, owner, describeTool(toolId, server.url));
    expect(body).toMatchObject({ listed: false, tool: null });
    expect(checksIn(body)[check]).toMatch(said);
    expect(await market.ask("GET", `/api/v1/tools/${toolId}`)).toMatchObject({ status: 404 });
  });

  it("a tool whose owner has too little at stake is not called, and nothing that it promises is compiled", async () => {
    const { toolId, owner } = toolOf(newWallet(), { stake: 9_999_999n });
    const server = await serve();
    const { body } = await register(market.ask, owner, describeTool(toolId, server.url));
    expect(Object.keys(checksIn(body))).toEqual(["stake", "connect", "identity", "schemas"]);
    expect(server.state.calls).toBe(0);
  });

  it("tells the contributor if the server takes tokens that were signed for another, and lists it all the same", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve({ anyAudience: true, toolIds: [toolId] });
    const { body } = await register(market.ask, owner, describeTool(toolId, server.url));
    expect(body).toMatchObject({
      listed: true,
      warnings: [expect.stringMatching(/tokens that were signed for other servers.*as audience\.$/)],
    });
  });

  it("whoever refreshes all the time waits, and hears how long", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url));
    const key = await makeKey(market.ask, owner);
    const refresh = () => market.ask("POST", `/api/v1/tools/${toolId}/refresh`, undefined, key);
    let answer = await refresh();
    for (let i = 0; i < 15 && answer.status === 200; i += 1) answer = await refresh();
    expect(answer).toMatchObject({
      status: 429,
      body: { code: "rate_limited", error: expect.stringMatching(/register or refresh again in \d+ s\.$/) },
      headers: { "retry-after": expect.stringMatching(/^\d+$/) },
    });
    market.pass(10_000);
    expect(await refresh()).toMatchObject({ status: 200, body: { listed: true } });
  });

  it("does not try what writes or needs a buyer, and tries the rest with arguments of their schemas", async () => {
    const seen: unknown[] = [];
    const { toolId, owner } = toolOf();
    const input = {
      type: "object",
      required: ["chain", "count"],
      properties: { chain: { enum: ["base"] }, count: { type: "integer", default: 3 } },
    };
    const server = await serve({
      methods: [
        { ...GAS, name: "write", _meta: { surface: "execute", queryEligible: false, pricing: { executeUsd: "1" } } },
        { ...GAS, name: "personal", _meta: { contextRequirements: ["wallet"] } },
        { ...GAS, name: "read", inputSchema: input },
      ],
      call: ({ name, args, request }) => {
        seen.push([name, args, request.headers.authorization?.includes("smoke-test")]);
        return structured({ value: 1 });
      },
    });
    expect((await register(market.ask, owner, describeTool(toolId, server.url))).body).toMatchObject({ listed: true });
    expect(seen).toEqual([["read", { chain: "base", count: 3 }, true]]);
  });

  it("one endpoint is one tool of its owner, and nobody else's", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url));
    const again = await register(market.ask, owner, describeTool(toolOf(owner).toolId, server.url));
    expect(again).toMatchObject({ status: 409, body: { code: "conflict" } });
    const other = toolOf();
    const theirs = await register(market.ask, other.owner, describeTool(other.toolId, server.url));
    expect(theirs).toMatchObject({ status: 409, body: { code: "conflict" } });
  });

  it("a broken contributor breaks nobody's search", async () => {
    const { toolId, owner } = toolOf();
    const broken = {
      surface: 7,
      latencyClass: ["fast"],
      pricing: { executeUsd: 0.25 },
      rateLimit: { maxRequestsPerMinute: 0.5 },
    };
    const server = await serve({ methods: [{ ...GAS, description: undefined, _meta: broken }] });
    const { body } = await register(market.ask, owner, describeTool(toolId, server.url, { name: "Zebrawood" }));
    expect(body.warnings).toHaveLength(4);
    const found = await find("zebrawood");
    expect(found.body).toMatchObject({
      count: 1,
      query: "zebrawood",
      tools: [
        { mcpTools: [{ description: "", executePriceUsd: "0.25", _meta: { surface: "both", latencyClass: "slow" } }] },
      ],
    });
  });

  it("the owner's key refreshes and changes a listing, and nobody else's does", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { defaultExecutePriceUsd: "0.02" }));
    const [key, other] = [await makeKey(market.ask, owner), await makeKey(market.ask, newWallet())];
    const path = `/api/v1/tools/${toolId}`;
    server.state.methods = [GAS, { name: "new_method", outputSchema: OUTPUT }];
    expect(await market.ask("POST", `${path}/refresh`, undefined, other)).toMatchObject({ status: 403 });
    const refreshed = await market.ask("POST", `${path}/refresh`, undefined, key);
    expect(refreshed.body).toMatchObject({
      listed: true,
      tool: { mcpTools: [{ executePriceUsd: "0.001" }, { name: "new_method", executePriceUsd: "0.02" }] },
    });
    server.state.methods = [];
    expect((await market.ask("POST", `${path}/refresh`, undefined, key)).body).toMatchObject({ listed: false });
    expect((await market.ask("GET", path)).body.mcpTools).toHaveLength(2);

    const change = {
      suggestedPrompts: ["How much is gas?", { text: "And tomorrow?", source: "contributor" }],
      category: null,
    };
    expect(await market.ask("PATCH", path, change, other)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(await market.ask("PATCH", path, {}, key)).toMatchObject({
      status: 400,
      body: {
        error: "The request cannot be taken: name, description, suggestedPrompts or category must be given.",
      },
    });
    expect(await market.ask("PATCH", "/api/v1/account", {}, key)).toMatchObject({
      status: 400,
      body: { error: "The request cannot be taken: favoritesOnly or maxQueryCostUsd must be given." },
    });
    expect(await market.ask("PATCH", path, { category: "Nonsense" }, key)).toMatchObject({ status: 400 });
    const changed = await market.ask("PATCH", path, change, key);
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id: toolId,
        name: "Gas",
        category: null,
        suggestedPrompts: [
          { text: "How much is gas?", source: "sdk" },
          { text: "And tomorrow?", source: "contributor" },
        ],
      },
    });
    expect((await market.ask("GET", path)).body.suggestedPrompts).toEqual(changed.body.suggestedPrompts);

    const inCapitals = `/api/v1/tools/${toolId.toUpperCase()}`;
    expect(await market.ask("PATCH", inCapitals, { category: null }, key)).toMatchObject({ body: { id: toolId } });
    expect(await market.ask("GET", `${inCapitals}/status`, undefined, key)).toMatchObject({ body: { id: toolId } });

    const buyer = newWallet();
    market.onChain.set(toolId, standing(buyer.address));
    expect(await market.ask("PATCH", path, { name: "Mine" }, key)).toMatchObject({ status: 403 });
    expect(await market.ask("PATCH", path, { name: "Sold" }, await makeKey(market.ask, buyer))).toMatchObject({
      status: 200,
    });
  });

  it("a search is answered with no more than a few megabytes, however long listings are, and each tool whole", async () => {
    const word = `w${randomUUID().replaceAll("-", "")}`;
    const methods = Array.from({ length: 12 }, (_, i) => ({
      ...GAS,
      name: `method_${i}`,
      description: "x".repeat(4_000),
      inputSchema: { type: "object", properties: { [word]: { description: "y".repeat(28_000) } } },
    }));
    const ids: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      const { toolId, owner } = toolOf();
      const server = await serve({ methods });
      const listed = await register(market.ask, owner, { ...describeTool(toolId, server.url), name: word });
      expect(listed.body).toMatchObject({ listed: true });
      ids.push(toolId);
    }
    const { body } = await market.ask("GET", `/api/v1/tools/search?q=${word}&limit=50`);
    const tools = body.tools as { mcpTools: object[] }[];
    expect(tools.length).toBeGreaterThan(3);
    expect(tools.length).toBeLessThan(ids.length);
    expect(body.count).toBe(tools.length);
    for (const { mcpTools } of tools) expect(mcpTools).toHaveLength(methods.length);
    expect(JSON.stringify(body).length).toBeLessThan(2_500_000);
    const compact = await market.ask("GET", `/api/v1/tools/search?q=${word}&limit=5&view=compact`);
    expect(compact.body).toMatchObject({ tools: { length: 5 }, count: 5 });
    expect(JSON.stringify(compact.body).length).toBeLessThan(50_000);
  });

  it("what its owner changes while its methods are read again stays changed", async () => {
    const { toolId, owner } = toolOf();
    const [server, newer] = [await serve(), await serve()];
    await register(market.ask, owner, describeTool(toolId, server.url));
    const key = await makeKey(market.ask, owner);
    const path = `/api/v1/tools/${toolId}`;
    server.state.methods = [GAS, { name: "new_method", outputSchema: OUTPUT }];
    server.tool.list = () => market.ask("PATCH", path, { description: "Newer words" }, key);
    const refreshed = await market.ask("POST", `${path}/refresh`, undefined, key);
    expect(refreshed.body).toMatchObject({ listed: true, tool: { description: "Newer words" } });
    expect((await market.ask("GET", path)).body).toMatchObject({ mcpTools: { length: 2 }, description: "Newer words" });
    // What is read from a server that is not the tool's any more is not taken for it. Here an owner's turns come one after the
    // other, and beside another process's.
    const other = await openMarketplace(database);
    other.onChain.set(toolId, standing(owner.address));
    server.tool.list = async () => {
      delete server.tool.list;
      await register(other.ask, owner, describeTool(toolId, newer.url));
      await other.close();
    };
    expect(await market.ask("POST", `${path}/refresh`, undefined, key)).toMatchObject({
      status: 409,
      body: { code: "conflict", error: expect.stringMatching(/changed while/) },
    });
    expect((await market.ask("GET", `${path}/status`, undefined, key)).body.endpoint).toBe(newer.url);
  });

  it("how a listing stands is its owner's to see: where its server is, and what is wrong with it", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { name: "Ocelot" }));
    const status = (id: string, key?: string) => market.ask("GET", `/api/v1/tools/${id}/status`, undefined, key);
    expect(await status(toolId)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    const stranger = await makeKey(market.ask, newWallet());
    const refused = await status(toolId, stranger);
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(JSON.stringify(refused.body)).not.toContain(server.url);
    const key = await makeKey(market.ask, owner);
    expect(await status(toolId, key)).toMatchObject({ status: 200, body: { endpoint: server.url, offered: true } });
    expect(await status(randomUUID(), key)).toMatchObject({ status: 404, body: { code: "not_found" } });
    // What anybody finds does not say where the server is.
    for (const path of [`/api/v1/tools/${toolId}`, "/api/v1/tools/search?q=ocelot"]) {
      expect(JSON.stringify((await market.ask("GET", path)).body)).not.toContain(server.url);
    }
  });

  it("a tool that is gone is delisted after three pings, and back after the first that it answers", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { name: "Quokka" }));
    const key = await makeKey(market.ask, owner);
    const status = async () => (await market.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, key)).body;
    const { pingAfter } = market;
    await pingAfter(DAY_MS);
    expect(await status()).toMatchObject({ pings: 2, pingsAnswered: 2, offered: true });
    server.state.down = true;
    await pingAfter(DAY_MS);
    await pingAfter(HOUR_MS);
    expect(await status()).toMatchObject({ failuresInARow: 2, offered: true });
    await pingAfter(HOUR_MS);
    expect(await status()).toMatchObject({ offered: false, reason: expect.stringMatching(/has not answered 3 times/) });
    expect((await find("quokka")).body.count).toBe(0);
    server.state.down = false;
    await pingAfter(HOUR_MS);
    expect(await status()).toMatchObject({
      offered: true,
      reason: null,
      failuresInARow: 0,
      pings: 6,
      pingsAnswered: 3,
    });
    expect((await find("quokka")).body).toMatchObject({ count: 1, tools: [{ uptimePercent: "50" }] });
  });

  it("a tool that fails with words that no database keeps is delisted like any other, and disturbs none", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { name: "Tarsier" }));
    server.state.broken = "out \0 of order";
    for (let failures = 1; failures <= 3; failures += 1) await market.pingAfter(DAY_MS);
    const key = await makeKey(market.ask, owner);
    const { body } = await market.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, key);
    expect(body).toMatchObject({ offered: false, failuresInARow: 3, reason: expect.stringMatching(/out . of order/) });
  });

  it("a stake that is withdrawn takes a tool off the shelf, and one that comes back puts it there again", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { name: "Pangolin" }));
    const readAgain = () => market.registry.readStandings([...market.catalogue.all()]);
    market.onChain.set(toolId, standing(owner.address, { stake: 1n }));
    await readAgain();
    expect((await find("pangolin")).body.count).toBe(0);
    const key = await makeKey(market.ask, owner);
    const { body } = await market.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, key);
    expect(body.reason).toMatch(/stake is below/);
    market.onChain.set(toolId, standing(owner.address));
    await readAgain();
    expect((await find("pangolin")).body.count).toBe(1);
  });

  it("of more listings than are searched those are found that have the most at stake, and the others by their id", async () => {
    const rich = async (name: string, stake: bigint) => {
      const { toolId, owner } = toolOf(newWallet(), { stake });
      const server = await serve();
      await register(market.ask, owner, describeTool(toolId, server.url, { name }));
      return { toolId, owner };
    };
    const [less, more] = [await rich("Narwhal", 10n ** 12n), await rich("Beluga", 2n * 10n ** 12n)];
    const catalogue = createCatalogue(market.store, { places: 1 });
    const names = () => catalogue.search({ limit: 10 }).map(({ listing }) => listing.name);
    await catalogue.follow();
    expect(names()).toEqual(["Beluga"]);
    expect([catalogue.isSearched(less.toolId), catalogue.waiting() > 0]).toEqual([false, true]);
    // What is kept of the other in memory is short; whoever knows its id is shown and sold all of it.
    const kept = [...catalogue.all()].find(({ toolId }) => toolId === less.toolId);
    expect(kept).toMatchObject({ name: "Narwhal", methods: [], description: "", stake: 10n ** 12n });
    expect(await catalogue.find(less.toolId)).toMatchObject({ methods: [{ name: GAS.name }] });
    // It comes back by itself.
    market.onChain.set(more.toolId, standing(more.owner.address));
    await market.registry.readStandings([...market.catalogue.all()]);
    await catalogue.follow();
    expect(names()).toEqual(["Narwhal"]);
    expect(catalogue.search({ text: "narwhals", limit: 1 })).toMatchObject([{ methods: [{ name: GAS.name }] }]);
    market.onChain.set(less.toolId, standing(less.owner.address));
    await market.registry.readStandings([...market.catalogue.all()]);
  });

  it("whoever comes in for others is whole from the first moment, also if the database was away just then", async () => {
    const [first, second] = [toolOf(newWallet(), { stake: 10n ** 13n }), toolOf()];
    for (const { toolId, owner } of [first, second]) {
      await register(market.ask, owner, describeTool(toolId, (await serve()).url, { name: `Dolphin ${toolId}` }));
    }
    let isAway = false;
    const { read } = market.store;
    const all: typeof read.all = async (text, params) => {
      if (isAway && text.includes("WHERE tool_id")) throw new Error("the database is away");
      return read.all(text, params);
    };
    const catalogue = createCatalogue({ ...market.store, read: { ...read, all } }, { places: 1 });
    await catalogue.follow();
    const setStakes = async (ofFirst: bigint, ofSecond: bigint) => {
      market.onChain.set(first.toolId, standing(first.owner.address, { stake: ofFirst }));
      market.onChain.set(second.toolId, standing(second.owner.address, { stake: ofSecond }));
      await market.registry.readStandings([...market.catalogue.all()]);
    };
    await setStakes(10n ** 13n, 2n * 10n ** 13n);
    isAway = true;
    await expect(catalogue.follow()).rejects.toThrow("away");
    isAway = false;
    expect(await catalogue.find(second.toolId)).toMatchObject({ methods: [{ name: GAS.name }] });
    await setStakes(4n * 10n ** 13n, 2n * 10n ** 13n);
    isAway = true;
    await expect(catalogue.follow()).rejects.toThrow("away");
    isAway = false;
    await catalogue.follow();
    expect(catalogue.search({ limit: 1 })).toMatchObject([{ listing: { toolId: first.toolId } }]);
    market.onChain.set(first.toolId, standing(first.owner.address));
    market.onChain.set(second.toolId, standing(second.owner.address));
    await market.registry.readStandings([...market.catalogue.all()]);
  });

  it("the owner of a tool that no search finds is told so, and what to do", async () => {
    const crowded = await openMarketplace(database, { searchPlaces: 1 });
    // Later than everybody else.
    crowded.pass(1_000 * DAY_MS);
    const statusOf = async (name: string) => {
      const { toolId, owner } = toolOf();
      crowded.onChain.set(toolId, standing(owner.address));
      await register(crowded.ask, owner, describeTool(toolId, (await serve()).url, { name }));
      const key = await makeKey(crowded.ask, owner);
      return (await crowded.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, key)).body;
    };
    expect(await statusOf("Dugong")).toMatchObject({ offered: true, reason: null });
    const crowdedOut = { offered: true, reason: expect.stringMatching(/no search finds it.*hardhat stake/i) };
    expect(await statusOf("Sea cow")).toMatchObject(crowdedOut);
    await crowded.close();
  });

  it("a tool without a stake is pinged no more, and forgotten a month later if nobody ever paid for it", async () => {
    const [poor, paid] = [toolOf(), toolOf()];
    const server = await serve();
    const another = await serve();
    await register(market.ask, poor.owner, describeTool(poor.toolId, server.url, { name: "Manatee" }));
    await register(market.ask, paid.owner, describeTool(paid.toolId, another.url, { name: "Orca" }));
    for (const { toolId, owner } of [poor, paid]) market.onChain.set(toolId, standing(owner.address, { stake: 1n }));
    await market.registry.readStandings([...market.catalogue.all()]);
    await market.store.alone((sql) => sql.run("UPDATE listings SET paid_calls = 1 WHERE tool_id = $1", [paid.toolId]));
    const isKept = async (toolId: string) => (await findListing(market.store.read, toolId)) !== null;
    const pings = async () => (await findListing(market.store.read, poor.toolId))?.pings;
    const before = await pings();
    await market.pingAfter(2 * DAY_MS);
    expect(await pings()).toBe(before);
    await market.registry.forgetAbandoned();
    expect(await isKept(poor.toolId)).toBe(true);
    market.pass(30 * DAY_MS);
    await market.registry.forgetAbandoned();
    expect([await isKept(poor.toolId), await isKept(paid.toolId)]).toEqual([false, true]);
    // A stake that comes back changes nothing of what is forgotten, and that is found out once.
    market.onChain.set(poor.toolId, standing(poor.owner.address));
    const revisionOf = async () => (await market.store.read.all("SELECT revision FROM revisions"))[0]?.revision;
    const readStandings = () => market.registry.readStandings([...market.catalogue.all()]);
    await readStandings();
    const revision = await revisionOf();
    await readStandings();
    expect(await revisionOf()).toBe(revision);
    expect(market.catalogue.isSearched(poor.toolId)).toBe(false);
  });

  it("the owner of a tool whose stake has just come back hears nothing of others", async () => {
    const { toolId, owner } = toolOf();
    await register(market.ask, owner, describeTool(toolId, (await serve()).url, { name: "Sea otter" }));
    const key = await makeKey(market.ask, owner);
    const status = async () => (await market.ask("GET", `/api/v1/tools/${toolId}/status`, undefined, key)).body;
    market.onChain.set(toolId, standing(owner.address, { stake: 1n }));
    await market.registry.readStandings([...market.catalogue.all()]);
    market.pass(60_000);
    expect(await status()).toMatchObject({ offered: false, reason: "Its stake is below what it requires." });
    market.onChain.set(toolId, standing(owner.address));
    market.pass(60_000);
    expect(await status()).toMatchObject({ offered: true, reason: null });
    await market.registry.readStandings([...market.catalogue.all()]);
  });

  it("a tool that loses its stake is kept for a month from then, however long ago it was listed, and again if it comes back", async () => {
    const { toolId, owner } = toolOf();
    await register(market.ask, owner, describeTool(toolId, (await serve()).url, { name: "Porpoise" }));
    const isKept = async () => {
      await market.registry.forgetAbandoned();
      return (await findListing(market.store.read, toolId)) !== null;
    };
    const stakes = async (stake?: bigint) => {
      market.onChain.set(toolId, standing(owner.address, stake === undefined ? {} : { stake }));
      await market.registry.readStandings([...market.catalogue.all()]);
    };
    market.pass(40 * DAY_MS);
    await stakes(1n);
    expect(await isKept()).toBe(true);
    market.pass(20 * DAY_MS);
    // Something else of it changes, and then it has one again for a while.
    await stakes(2n);
    expect(await isKept()).toBe(true);
    await stakes();
    await stakes(1n);
    market.pass(20 * DAY_MS);
    expect(await isKept()).toBe(true);
    await stakes(2n);
    market.pass(11 * DAY_MS);
    expect(await isKept()).toBe(false);
  });

  it("a tool whose stake comes back while it is about to be forgotten is kept", async () => {
    const { toolId, owner } = toolOf();
    await register(market.ask, owner, describeTool(toolId, (await serve()).url, { name: "Vaquita" }));
    market.onChain.set(toolId, standing(owner.address, { stake: 1n }));
    await market.registry.readStandings([...market.catalogue.all()]);
    market.pass(31 * DAY_MS);
    let forgetting: Promise<void> | undefined;
    await market.store.alone(async (sql) => {
      await saveStanding(sql, toolId, { ...standing(owner.address), owner: owner.address }, 0);
      forgetting = market.registry.forgetAbandoned();
      // Where two write at once, it waits for this very row. Elsewhere it has not begun.
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM listings%'";
      if (name === "PostgreSQL")
        await until("it to wait", async () => (await market.store.read.all(waiting)).length > 0);
    });
    await forgetting;
    expect(await findListing(market.store.read, toolId)).toMatchObject({ toolId });
    market.onChain.set(toolId, standing(owner.address));
    await market.registry.readStandings([...market.catalogue.all()]);
  });

  it("nobody takes the name of a proven tool, or one that looks like it", async () => {
    const proven = toolOf();
    const server = await serve();
    await register(market.ask, proven.owner, describeTool(proven.toolId, server.url, { name: "Wombat prices" }));
    const { toolId, owner } = toolOf();
    const another = await serve();
    const offer = (name: string) => register(market.ask, owner, describeTool(toolId, another.url, { name }));
    // A name alone is nobody's.
    expect((await offer("Wombat prices")).body).toMatchObject({ listed: true });
    await market.store.alone((sql) =>
      sql.run("UPDATE listings SET paid_calls = 100, payers = 10 WHERE tool_id = $1", [proven.toolId]),
    );
    const calls = another.state.calls;
    for (const name of ["Wombat prices", "WOMBAT  PRICES", "Wоmbat рrices", "Vv0mbat-prlces"]) {
      const refused = await offer(name);
      expect(refused, name).toMatchObject({ status: 409, body: { code: "conflict" } });
      expect(refused.body.error).toContain(`name reads like that of the tool ${proven.toolId}`);
    }
    expect(another.state.calls).toBe(calls);
    expect((await offer("Wallaby prices")).body).toMatchObject({ listed: true });
    const rename = async (id: string, wallet: typeof owner) =>
      market.ask("PATCH", `/api/v1/tools/${id}`, { name: "Wombat prісes" }, await makeKey(market.ask, wallet));
    expect(await rename(toolId, owner)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await rename(proven.toolId, proven.owner)).toMatchObject({ status: 200 });
  });

  it("a listing says nothing that nobody sees", async () => {
    const { toolId, owner } = toolOf();
    const server = await serve();
    for (const unseen of [{ name: "Gas \u202Esecirp" }, { name: "Gas\nprices" }, { description: "Gas\u{E0041}" }]) {
      const refused = await register(market.ask, owner, describeTool(toolId, server.url, unseen));
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
    const poisoned = { type: "object", properties: { chain: { description: "which\u{E0041}" } } };
    server.state.methods = [
      { ...GAS, description: "Gas\u{E0041} prices\u202E" },
      { ...GAS, name: "poisoned", inputSchema: poisoned },
    ];
    const { body } = await register(market.ask, owner, describeTool(toolId, server.url, { name: "  Gas   prices " }));
    expect(body).toMatchObject({
      tool: { name: "Gas prices", mcpTools: [{ name: "get_gas_prices", description: "Gas prices" }] },
      warnings: expect.arrayContaining([
        'Method "get_gas_prices": its description has characters that nobody sees, which are left out.',
        expect.stringMatching(/^Method "poisoned": it is left out: its inputSchema has characters that nobody sees/),
      ]),
    });
  });

  it("what one process lists is found by another that shares the database", async () => {
    const other = await openMarketplace(database);
    const { toolId, owner } = toolOf();
    const server = await serve();
    await register(market.ask, owner, describeTool(toolId, server.url, { name: "Axolotl" }));
    const search = () => other.ask("GET", "/api/v1/tools/search?q=axolotl");
    expect((await search()).body.count).toBe(0);
    expect(await other.ask("GET", `/api/v1/tools/${toolId}`)).toMatchObject({ status: 200 });
    await other.catalogue.follow();
    expect((await search()).body.count).toBe(1);
    await other.close();
  });
});

import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../scripts/waiting/until.ts";
import { signBudget } from "../../settlement/chain/router/budgetDigest.ts";
import { parseUsd } from "../../settlement/domain/money.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { DOMAIN, openDaemon } from "./openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "./openMarketplace.ts";
import { startTool, structured, type ToolMethod, type ToolServer } from "./startTool.ts";

const EXECUTE = "/api/v1/tools/execute";
const SESSIONS = `${EXECUTE}/sessions`;
const BUDGETS = "/api/v1/budgets";
const VALID_UNTIL = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000).toISOString();
const HELP = "https://help.example/cap";

const WEIGH: ToolMethod = {
  name: "weigh_parcel",
  description: "The weight of a parcel in grams, by its number.",
  inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  outputSchema: { type: "object", properties: { weight: { type: "number" } }, required: ["weight"] },
  _meta: { latencyClass: "fast", pricing: { executeUsd: "0.001" } },
};

const newWallet = () => privateKeyToAccount(generatePrivateKey());

describe.each(backends)("a buyer who demands consent, on $name,", ({ create }) => {
  let [database, daemonStore]: Store[] = [];
  let daemon: Awaited<ReturnType<typeof openDaemon>>;
  let market: Awaited<ReturnType<typeof openMarketplace>>;
  let server: ToolServer;
  const toolId = randomUUID();

  beforeAll(async () => {
    database = await create();
    daemonStore = await create();
    daemon = await openDaemon(daemonStore);
    market = await openMarketplace(database, { daemonUrl: daemon.url });
    server = await startTool({ methods: [WEIGH], call: () => structured({ weight: 420 }) });
    const owner = newWallet();
    market.onChain.set(toolId, standing(owner.address, { price: 50_000n, stake: 1_000_000_000n }));
    const described = { toolId, endpoint: server.url, name: "Parcels", description: "Parcels on their way" };
    expect((await register(market.ask, owner, described)).body).toMatchObject({ listed: true });
  });
  afterAll(async () => {
    await server?.close();
    await market?.close();
    await daemon?.close();
    await database?.remove();
    await daemonStore?.remove();
  });

  async function buyer() {
    const wallet = newWallet();
    const key = await makeKey(market.ask, wallet);
    daemon.demandConsent(wallet.address);
    return {
      wallet,
      ask: (method: "GET" | "POST" | "DELETE", path: string, body?: object, headers = {}) =>
        market.ask(method, path, body, key, headers),
      execute: (body: object = {}, headers = {}) =>
        market.ask(
          "POST",
          EXECUTE,
          { toolId, toolName: "weigh_parcel", args: { number: 7 }, mode: "execute", ...body },
          key,
          headers,
        ),
      async sign(maxSpendUsd: string, { id = "1", tools = [] as string[] } = {}) {
        const budget = { id, maxSpendUsd, validUntil: VALID_UNTIL, ...(tools.length > 0 && { tools }) };
        const { signature } = await signBudget(wallet, DOMAIN, {
          payer: wallet.address,
          id: BigInt(id),
          maxSpend: parseUsd(maxSpendUsd),
          validUntil: BigInt(Date.parse(VALID_UNTIL) / 1_000),
          tools: tools.map(toolIdFromUuid),
        });
        return { budget, signature };
      },
    };
  }

  it("is refused without a signature, and told where to read on", async () => {
    const { ask, execute } = await buyer();
    const refused = { status: 402, body: { code: "consent_required", helpUrl: HELP } };
    expect(await ask("POST", SESSIONS, { maxSpendUsd: "1" })).toMatchObject(refused);
    expect(await execute()).toMatchObject(refused);
    expect(await ask("POST", "/api/v1/query", { query: "weight of parcel 7?", tools: [toolId] })).toMatchObject(
      refused,
    );
  });

  it("signs for a session, raises it with a call, and repeats the key with a newer signature", async () => {
    const { ask, execute, sign, wallet } = await buyer();
    const started = await ask("POST", SESSIONS, { maxSpendUsd: "1", ...(await sign("0.001", { tools: [toolId] })) });
    expect(started.status).toBe(200);
    const { sessionId } = started.body.session as { sessionId: string };
    expect(await execute({ sessionId })).toMatchObject({ status: 200 });
    const headers = { "idempotency-key": "raised" };
    expect(await execute({ sessionId }, headers)).toMatchObject({
      status: 402,
      body: { code: "budget_exceeded", helpUrl: HELP, session: { spent: "0.001" } },
    });
    const newer = await sign("0.002", { tools: [toolId] });
    expect(await execute({ sessionId, ...newer }, headers)).toMatchObject({ status: 200 });
    // One call under the key, whatever is signed for it.
    const again = await execute({ sessionId, ...(await sign("0.003", { tools: [toolId] })) }, headers);
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([200, "true"]);
    await until("both to be owed", async () => (await daemon.exposure(wallet.address)).pending === 2_000n);
    expect((await ask("GET", BUDGETS)).body).toMatchObject({
      budgets: [{ id: "1", maxSpendUsd: "0.002", tools: [toolId], pendingUsd: "0.002", remainingUsd: "0.00" }],
    });
  });

  it("signs for one call alone, or beforehand", async () => {
    const { ask, execute, sign } = await buyer();
    expect(await execute(await sign("0.001"))).toMatchObject({ status: 200 });
    expect(await execute({ maxSpendUsd: "0.5", ...(await sign("0.01", { id: "2" })) })).toMatchObject({ status: 200 });
    expect(await ask("POST", BUDGETS, await sign("5", { id: "3" }))).toMatchObject({
      status: 200,
      body: { budgets: expect.arrayContaining([expect.objectContaining({ id: "3", remainingUsd: "5.00" })]) },
    });
    const forged = { ...(await sign("6", { id: "3" })), ...{ signature: (await sign("7", { id: "3" })).signature } };
    expect(await ask("POST", BUDGETS, forged)).toMatchObject({ status: 400, body: { code: "budget_forged" } });
    expect(await execute({ signature: forged.signature })).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  });

  it("brings a budget once, and then buys, asks and starts sessions as the SDKs do, without a word of it", async () => {
    const { ask, execute, sign, wallet } = await buyer();
    const question = { query: "What is the weight of parcel number 7?", tools: [toolId] };
    expect(await ask("POST", BUDGETS, await sign("0.2"))).toMatchObject({ status: 200 });
    expect(await execute()).toMatchObject({ status: 200 });
    expect(await execute({ maxSpendUsd: "0.01" })).toMatchObject({ status: 200 });
    const { body } = await ask("POST", SESSIONS, { maxSpendUsd: "0.01" });
    const { sessionId } = body.session as { sessionId: string };
    expect(await execute({ sessionId }, { "idempotency-key": "kept" })).toMatchObject({ status: 200 });
    expect(await ask("POST", "/api/v1/query", question)).toMatchObject({ status: 200 });
    const started = await ask("POST", "/api/v1/query/jobs", question);
    const { jobId } = started.body as { jobId: string };
    expect((await ask("GET", `/api/v1/query/jobs/${jobId}`)).body).toMatchObject({ status: "completed" });
    await until("all to be owed", async () => (await daemon.exposure(wallet.address)).pending === 103_000n);
    expect((await ask("GET", BUDGETS)).body).toMatchObject({ budgets: [{ id: "1", pendingUsd: "0.103" }] });
    // What was brought last counts, however little it is.
    expect(await ask("POST", BUDGETS, await sign("0.0005", { id: "2" }))).toMatchObject({ status: 200 });
    expect(await execute()).toMatchObject({ status: 402, body: { code: "budget_exceeded" } });
    expect(await ask("POST", BUDGETS, await sign("0.3"))).toMatchObject({ status: 200 });
    expect(await execute()).toMatchObject({ status: 200 });
    expect(await ask("DELETE", BUDGETS)).toMatchObject({ status: 200, body: { budgets: [{}, {}] } });
    expect(await execute()).toMatchObject({
      status: 402,
      body: { code: "consent_required", error: expect.stringContaining("npx hardhat budget sign") },
    });
  });

  it("is bounded by what it has signed only where it demands that", async () => {
    const { ask, execute, sign, wallet } = await buyer();
    expect(await ask("POST", BUDGETS, await sign("0.0005"))).toMatchObject({ status: 200 });
    expect(await execute()).toMatchObject({ status: 402, body: { code: "budget_exceeded" } });
    daemon.waiveConsent(wallet.address);
    expect(await execute()).toMatchObject({ status: 200 });
  });

  it("sees what its wallet could be charged, what it has paid in advance, and that it demands consent", async () => {
    const { ask, wallet } = await buyer();
    daemon.deposit(wallet.address, 25_000_000n);
    expect(await ask("GET", "/api/v1/account/funds")).toMatchObject({
      status: 200,
      body: {
        payer: wallet.address.toLowerCase(),
        prepaidUsd: "25.00",
        refundingUsd: "0.00",
        consentRequired: true,
        allowed: false,
        reason: expect.stringContaining("demands consent"),
      },
    });
  });

  it("asks a question under a budget that covers what it may cost", async () => {
    const { ask, sign, wallet } = await buyer();
    const question = { query: "What is the weight of parcel number 7?", tools: [toolId] };
    expect(await ask("POST", "/api/v1/query", { ...question, ...(await sign("0.01")) })).toMatchObject({
      status: 402,
      body: { code: "budget_exceeded", helpUrl: HELP },
    });
    const answered = await ask("POST", "/api/v1/query", { ...question, ...(await sign("0.05")) });
    expect(answered).toMatchObject({ status: 200, body: { cost: { totalCostUsd: "0.05" } } });
    await until("it to be owed", async () => (await daemon.exposure(wallet.address)).pending === 50_000n);
    expect((await ask("GET", BUDGETS)).body).toMatchObject({ budgets: [{ id: "1", pendingUsd: "0.05" }] });
  });

  it("is answered by no tool that its budget is not for, named or found, brought or kept", async () => {
    const { ask, sign, wallet } = await buyer();
    const question = { query: "What is the weight of parcel number 7?" };
    const [before, forAnother] = [server.state.calls, await sign("1", { tools: [randomUUID()] })];
    const refused = { status: 402, body: { code: "budget_tools" } };
    expect(await ask("POST", "/api/v1/query", { ...question, tools: [toolId], ...forAnother })).toMatchObject(refused);
    expect(await ask("POST", "/api/v1/query", { ...question, ...forAnother })).toMatchObject({
      status: 200,
      body: { toolsUsed: [], cost: { totalCostUsd: "0.00" } },
    });
    expect(await ask("POST", BUDGETS, forAnother)).toMatchObject({ status: 200 });
    expect(await ask("POST", "/api/v1/query", { ...question, tools: [toolId] })).toMatchObject(refused);
    expect(server.state.calls).toBe(before);

    const own = await sign("1", { id: "2", tools: [randomUUID(), toolId] });
    expect(await ask("POST", "/api/v1/query", { ...question, ...own })).toMatchObject({
      status: 200,
      body: { cost: { totalCostUsd: "0.05" } },
    });
    await until("it to be owed", async () => (await daemon.exposure(wallet.address)).pending === 50_000n);
  });

  it("owes what was answered, whatever it buys under the same budget meanwhile", async () => {
    const { ask, execute, sign, wallet } = await buyer();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const before = server.state.calls;
    let first = true;
    server.tool.call = async () => {
      const waits = first;
      first = false;
      if (waits) await gate;
      return structured({ weight: 420 });
    };
    const signed = await sign("0.05");
    const question = { query: "What is the weight of parcel number 7?", tools: [toolId], ...signed };
    const started = await ask("POST", "/api/v1/query/jobs", question);
    const { jobId } = started.body as { jobId: string };
    await until("the tool to be asked", async () => server.state.calls > before);
    expect(await execute(signed)).toMatchObject({ status: 402, body: { code: "budget_exceeded" } });
    expect(await daemon.exposure(wallet.address)).toEqual({ pending: 0n, held: 50_000n });
    open();
    const job = (await ask("GET", `/api/v1/query/jobs/${jobId}`)).body;
    expect(job).toMatchObject({ status: "completed", result: { cost: { totalCostUsd: "0.05" } } });
    await until("it to be owed", async () => (await daemon.exposure(wallet.address)).held === 0n);
    expect(await daemon.exposure(wallet.address)).toEqual({ pending: 50_000n, held: 0n });
  });
});

import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../scripts/waiting/until.ts";
import { backends, type Store } from "../../settlement/ledger/testing/backends.ts";
import { openDaemon } from "./openDaemon.ts";
import { makeKey, openMarketplace, register, standing } from "./openMarketplace.ts";
import { GAS, startTool, structured, type ToolMethod, type ToolServer } from "./startTool.ts";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const EXECUTE = "/api/v1/tools/execute";
const SESSIONS = "/api/v1/tools/execute/sessions";
const PRICE = 1_000n;

// So little that a dozen answers are more.
const KEPT_BYTES = 400_000;

describe.each(backends)("one paid call, on $name", ({ create }) => {
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

  // A tool that is listed, and a buyer of it.
  async function shop(options: Parameters<typeof startTool>[0] = {}, terms: object = {}) {
    const server = await startTool({ ...options, call: () => structured({ value: 1 }) });
    servers.push(server);
    const owner = newWallet();
    const toolId = randomUUID();
    market.onChain.set(toolId, standing(owner.address));
    const described = { toolId, endpoint: server.url, name: "Gas", description: "Gas prices", ...terms };
    const { body } = await register(market.ask, owner, described);
    expect(body).toMatchObject({ listed: true });
    // It was tried when it was listed.
    server.state.calls = 0;
    server.tool.call = options.call ?? (() => structured({ value: 12 }));
    const buyer = newWallet();
    const key = await makeKey(market.ask, buyer);
    const execute = (body: object = {}, idempotencyKey?: string, on = market) =>
      on.ask("POST", EXECUTE, { toolId, toolName: "get_gas_prices", mode: "execute", ...body }, key, {
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      });
    const start = async (maxSpendUsd = "1.00") => {
      const { body } = await market.ask("POST", SESSIONS, { mode: "execute", maxSpendUsd }, key);
      return (body.session as { sessionId: string }).sessionId;
    };
    const session = async (id: string) => (await market.ask("GET", `${SESSIONS}/${id}`, undefined, key)).body.session;
    return {
      server,
      toolId,
      owner,
      buyer,
      key,
      execute,
      start,
      session,
      exposure: () => daemon.exposure(buyer.address),
    };
  }

  it("is held, called with a token of its own, captured, and answered with all that buyers read", async () => {
    let seen: unknown;
    const { execute, start, toolId, buyer, server, exposure } = await shop({
      call: ({ args, request }) => {
        seen = [args, request.headers.authorization];
        return structured({ value: 12 });
      },
    });
    const sessionId = await start();
    const { status, body } = await execute({ sessionId, args: { chain: "base" } });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      mode: "execute",
      result: { value: 12 },
      tool: { id: toolId, name: "Gas" },
      method: { name: "get_gas_prices", executePriceUsd: "0.001" },
      session: {
        mode: "execute",
        sessionId,
        methodPrice: "0.001",
        spent: "0.001",
        remaining: "0.999",
        maxSpend: "1.00",
        status: "open",
        expiresAt: expect.any(String),
        closeRequested: false,
        pendingAccruedCount: 1,
        pendingAccruedUsd: "0.001",
      },
      durationMs: expect.any(Number),
    });
    expect(seen).toEqual([{ chain: "base" }, `Bearer token ${toolId} ${server.url} ${buyer.address.toLowerCase()}`]);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
  });

  it("without a session is charged on its own, and shown without one", async () => {
    const { execute, exposure } = await shop();
    const { body } = await execute();
    expect(body.session).toEqual({
      mode: "execute",
      sessionId: null,
      methodPrice: "0.001",
      spent: "0.001",
      remaining: null,
      maxSpend: null,
    });
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
  });

  it("with a budget opens a session, goes on in it, and closes it when told to", async () => {
    const { execute, session } = await shop();
    const first = await execute({ maxSpendUsd: "0.50" });
    const { sessionId } = first.body.session as { sessionId: string };
    expect(first.body.session).toMatchObject({ maxSpend: "0.50", remaining: "0.499", status: "open" });
    const last = await execute({ sessionId, maxSpendUsd: "0.5", closeSession: true });
    expect(last.body.session).toMatchObject({
      spent: "0.002",
      status: "closed",
      closeRequested: true,
      pendingAccruedCount: 0,
    });
    expect(await session(sessionId)).toMatchObject({ spent: "0.002", status: "closed", pendingAccruedUsd: "0.00" });
    expect(await execute({ sessionId })).toMatchObject({ status: 409, body: { code: "session_closed" } });
  });

  it("of a free method makes no charge, and needs no money", async () => {
    const free: ToolMethod = { ...GAS, _meta: { pricing: { executeUsd: "0" } } };
    const { execute, buyer, exposure, start } = await shop({ methods: [free] });
    const sessionId = await start();
    expect((await execute({ sessionId })).body.session).toMatchObject({ spent: "0.00", remaining: "1.00" });
    daemon.allow(buyer.address, 0n);
    expect(await execute()).toMatchObject({ status: 200, body: { session: { sessionId: null, spent: "0.00" } } });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it.each<[string, object, number, string]>([
    ["a tool that is not there", { toolId: randomUUID() }, 404, "not_found"],
    ["no tool's id", { toolId: "gas" }, 400, "invalid_request"],
    ["a method that is not there", { toolName: "get_gas_price" }, 400, "invalid_tool_method"],
    ["a method without a price", { toolName: "unpriced" }, 400, "method_not_execute_eligible"],
    ["a method for answers", { toolName: "answers" }, 400, "method_not_execute_eligible"],
    ["a budget of nothing", { maxSpendUsd: "0" }, 400, "invalid_max_spend"],
    ["a budget that is none", { maxSpendUsd: "much" }, 400, "invalid_max_spend"],
    ["a budget as a number", { maxSpendUsd: 5 }, 400, "invalid_max_spend"],
    ["arguments that are a list", { args: [] }, 400, "invalid_request"],
    ["a session that is not there", { sessionId: randomUUID() }, 404, "session_not_found"],
    ["an id that cannot be one", { sessionId: "a/b\0" }, 404, "session_not_found"],
    ["a budget that does not cover it", { maxSpendUsd: "0.0005" }, 402, "session_budget_exceeded"],
  ])("with %s is refused, and nothing is called or held", async (_, body, status, code) => {
    const { execute, server, exposure } = await shop({
      methods: [
        GAS,
        { ...GAS, name: "unpriced", _meta: {} },
        { ...GAS, name: "answers", _meta: { surface: "answer", pricing: { executeUsd: "1" } } },
      ],
    });
    const reply = await execute(body);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(reply.body.error).toMatch(/^[A-Z].*\.$|\?$/);
    expect(server.state.calls).toBe(0);
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it("is refused where the payer cannot pay, and under the same key goes through once it can", async () => {
    const { execute, buyer, server } = await shop();
    daemon.allow(buyer.address, 0n);
    const key = randomUUID();
    expect(await execute({}, key)).toMatchObject({
      status: 402,
      body: { code: "insufficient_allowance", helpUrl: "https://help.example/cap" },
    });
    expect(server.state.calls).toBe(0);
    daemon.allow(buyer.address, 10n ** 9n);
    expect(await execute({}, key)).toMatchObject({ status: 200 });
    expect(server.state.calls).toBe(1);
  });

  it("is refused for a tool that is delisted or short of stake", async () => {
    const { execute, toolId, owner, server } = await shop();
    market.onChain.set(toolId, standing(owner.address, { stake: 1n }));
    await market.registry.readStandings([...market.catalogue.all()]);
    expect(await execute()).toMatchObject({
      status: 400,
      body: { code: "method_not_execute_eligible", error: expect.stringMatching(/stake/) },
    });
    expect(server.state.calls).toBe(0);
  });

  it("in somebody else's session is as in none", async () => {
    const [mine, theirs] = [await shop(), await shop()];
    const sessionId = await theirs.start();
    expect(await mine.execute({ sessionId })).toMatchObject({ status: 404, body: { code: "session_not_found" } });
    expect(await mine.session(sessionId)).toBeUndefined();
    const closed = await market.ask("POST", `${SESSIONS}/${sessionId}/close`, { mode: "execute" }, mine.key);
    expect(closed).toMatchObject({ status: 404 });
    expect(await theirs.execute({ sessionId })).toMatchObject({ status: 200 });
    expect(await mine.execute({ sessionId })).toMatchObject({ status: 404 });
  });

  it("says so if the budget of the session is another one", async () => {
    const { execute, start } = await shop();
    const reply = await execute({ sessionId: await start("2"), maxSpendUsd: "1" });
    expect(reply).toMatchObject({ status: 409, body: { code: "max_spend_mismatch" } });
  });

  it.each<[string, () => unknown, string]>([
    [
      "says that it failed",
      () => ({ isError: true, content: [{ type: "text", text: "no such chain" }] }),
      "no such chain",
    ],
    [
      "fails with JSON",
      () => ({ isError: true, content: [{ type: "text", text: '{ "reason": 5 }' }] }),
      '{"reason":5}',
    ],
    [
      "says more than anybody reads",
      () => ({ isError: true, content: [{ type: "text", text: `x${"😀".repeat(10_000)}` }] }),
      // No half of a character is left where it is cut.
      `x${"😀".repeat(4_999)}\ufffd`,
    ],
    [
      "fails with what is no text",
      () => ({ isError: true, content: [{ type: "text", text: "no \ud800" }] }),
      "no \ufffd",
    ],
    [
      "answers what is no result",
      () => ({ content: [7], isError: "no" }),
      "the tool's server answered something that is not MCP",
    ],
  ])("of a tool that %s costs nothing, and its words are passed on", async (_, call, said) => {
    const { execute, start, session, exposure } = await shop({ call });
    const sessionId = await start();
    const reply = await execute({ sessionId });
    expect(reply).toMatchObject({
      status: 422,
      body: { code: "execution_failed", session: { spent: "0.00", remaining: "1.00" } },
    });
    expect(reply.body.error).toBe(`Tool execution failed: ${said}`);
    expect(await session(sessionId)).toMatchObject({ spent: "0.00", remaining: "1.00" });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it.each<[string, (call: { response: ServerResponse }) => void]>([
    [
      "lies about the length of its answer",
      ({ response }) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"jsonrpc"');
        response.destroy();
      },
    ],
    ["answers something that is not MCP", ({ response }) => void response.writeHead(200).end("<html>")],
    ["drops the connection", ({ response }) => void response.destroy()],
    ["sends us to our own daemon", ({ response }) => void response.writeHead(307, { location: daemon.url }).end()],
  ])("of a tool that %s costs nothing, and is made once under its key", async (_, misbehave) => {
    const { execute, server, exposure } = await shop({ call: misbehave as never });
    const key = randomUUID();
    const first = await execute({}, key);
    expect(first).toMatchObject({ status: 422, body: { code: "execution_failed" } });
    expect(await execute({}, key)).toMatchObject({ status: 422, body: first.body });
    expect(server.state.calls).toBe(1);
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it("of a tool that asks for a person is refused and costs nothing", async () => {
    const handshakeAction = { _action: "signature_request", domain: {}, types: {}, primaryType: "Order", message: {} };
    const { execute, exposure, toolId } = await shop({ call: () => structured({ _meta: { handshakeAction } }) });
    expect(await execute()).toMatchObject({
      status: 400,
      body: { code: "action_requires_signature", helpUrl: expect.stringContaining(`/tools/${toolId}`) },
    });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it.each([
    [
      "nested beyond measure",
      `${"[".repeat(4_000)}${"]".repeat(4_000)}`,
      "args must not be nested deeper than 128 levels",
    ],
    ["larger than any number", "[1e999]", "args must have no number above 1.8e308"],
  ])("with arguments that are %s is refused before anything is held", async (_how, deep, why) => {
    const { toolId, key, start, exposure, server } = await shop();
    const reply = await market.app.inject({
      method: "POST",
      url: EXECUTE,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      payload: `{"toolId":"${toolId}","toolName":"get_gas_prices","sessionId":"${await start()}","args":{"a":${deep}}}`,
    });
    expect([reply.statusCode, reply.json().error]).toEqual([400, `The request cannot be taken: ${why}.`]);
    expect([server.state.calls, await exposure()]).toEqual([0, { pending: 0n, held: 0n }]);
  });

  it("whose evidence cannot be kept leaves nothing reserved", async () => {
    const { execute, exposure, server } = await shop({ call: () => structured({ value: "many" }) });
    await market.store.alone((sql) => sql.run("ALTER TABLE evidence RENAME TO evidence_away"));
    try {
      expect(await execute()).toMatchObject({ status: 500 });
    } finally {
      await market.store.alone((sql) => sql.run("ALTER TABLE evidence_away RENAME TO evidence"));
    }
    expect([server.state.calls, await exposure()]).toEqual([1, { pending: 0n, held: 0n }]);
  });

  it("that is answered with something else than was promised is handed over, not charged, and kept as evidence", async () => {
    const { execute, toolId, exposure, buyer } = await shop({ call: () => structured({ value: "high" }) });
    const reply = await execute({ args: { at: 1 } });
    expect(reply).toMatchObject({
      status: 200,
      body: { result: { value: "high" }, session: { spent: "0.00" }, warnings: [expect.stringMatching(/not charged/)] },
    });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    const [row] = await market.store.read.all("SELECT * FROM evidence WHERE tool_id = $1", [toolId]);
    expect(row).toMatchObject({
      method: "get_gas_prices",
      account: buyer.address.toLowerCase(),
      response: '{"value":"high"}',
      request: '{"arguments":{"at":1},"method":"get_gas_prices"}',
      problems: "/value must be number",
    });
  });

  it("that is answered with no object at all is refused by a paid tool's buyer, and not charged", async () => {
    const { execute, exposure } = await shop({ call: () => ({ content: [{ type: "text", text: "sorry" }] }) });
    expect(await execute()).toMatchObject({ status: 422, body: { code: "execution_failed" } });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it("is made once under its key, however often and however closely it is asked for", async () => {
    const release = Promise.withResolvers<void>();
    const { execute, server, exposure } = await shop({
      call: async () => {
        await release.promise;
        return structured({ value: server.state.calls });
      },
    });
    const key = randomUUID();
    const asked = Promise.all(Array.from({ length: 5 }, () => execute({}, key)));
    await until("the call", () => server.state.calls === 1);
    release.resolve();
    const answers = await asked;
    const later = await execute({}, key);
    expect(new Set([...answers, later].map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(later.headers["idempotency-replayed"]).toBe("true");
    expect(server.state.calls).toBe(1);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
    expect(await execute({ args: { other: true } }, key)).toMatchObject({
      status: 409,
      body: { code: "idempotency_conflict" },
    });
  });

  it("is the same under its key with its arguments in another order, as whoever writes them again may write them", async () => {
    const { server, execute } = await shop({ call: ({ args }) => structured({ value: Object.keys(args).length }) });
    const key = randomUUID();
    const first = await execute({ args: { a: 1, deep: { b: [2, 3], c: null } } }, key);
    expect(first.status).toBe(200);
    const again = await execute({ args: { deep: { c: null, b: [2, 3] }, a: 1 } }, key);
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([200, "true"]);
    expect(again.body).toEqual(first.body);
    // The order of a list is what it says.
    expect((await execute({ args: { a: 1, deep: { b: [3, 2], c: null } } }, key)).status).toBe(409);
    expect(server.state.calls).toBe(1);
  });

  it("is made once under its key by two processes that share a database", async () => {
    const other = await openMarketplace(database as Store, { daemonUrl: daemon.url, holder: "other" });
    const release = Promise.withResolvers<void>();
    const { execute, server } = await shop({
      call: async () => {
        await release.promise;
        return structured({ value: 3 });
      },
    });
    const key = randomUUID();
    const first = execute({}, key);
    await until("the call", () => server.state.calls === 1);
    const second = execute({}, key, other);
    release.resolve();
    expect((await second).body).toEqual((await first).body);
    expect(server.state.calls).toBe(1);
    await other.close();
  });

  it("that its tool failed is not made again under its key", async () => {
    const { execute, server } = await shop({
      call: () => ({ isError: true, content: [{ type: "text", text: "no" }] }),
    });
    const key = randomUUID();
    const first = await execute({}, key);
    server.tool.call = () => structured({ value: 1 });
    expect(await execute({}, key)).toMatchObject({ status: 422, body: first.body });
    expect(server.state.calls).toBe(1);
  });

  it("that never reached its tool can be made again under its key", async () => {
    const { execute, server, exposure } = await shop();
    server.state.down = true;
    const key = randomUUID();
    expect(await execute({}, key)).toMatchObject({ status: 422, body: { code: "execution_failed" } });
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
  });

  it("of a process that died is never made again: it failed, and costs nothing", async () => {
    const dying = await openMarketplace(database as Store, { daemonUrl: daemon.url, holder: "dying" });
    const never = Promise.withResolvers<void>();
    const { execute, server, exposure } = await shop({ call: () => never.promise });
    const key = randomUUID();
    const lost = execute({}, key, dying);
    await until("the call", () => server.state.calls === 1);
    expect(await exposure()).toEqual({ pending: 0n, held: PRICE });

    // The same place in the same database, after a restart.
    const back = await openMarketplace(database as Store, { daemonUrl: daemon.url, holder: "dying" });
    expect(await back.execute.lapseOwn()).toBe(1);
    const answer = await execute({}, key, back);
    expect(answer).toMatchObject({ status: 422, body: { code: "execution_failed" } });
    back.pass(60_000);
    await back.execute.tellDue();
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    expect(await execute({}, key, back)).toMatchObject({ status: 422, body: answer.body });
    expect(server.state.calls).toBe(1);

    // The one that was taken for dead was only slow: it must not be paid, nor be believed.
    never.resolve();
    server.tool.call = () => structured({ value: 1 });
    await server.close();
    await lost;
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    expect(await execute({}, key, back)).toMatchObject({ status: 422, body: answer.body });
    await dying.close();
    await back.close();
  });

  it("that was made is never made again under its key, even if its answer cannot be kept", async () => {
    const failing = await openMarketplace(database as Store, { daemonUrl: daemon.url, holder: "failing" });
    const { execute, server, exposure } = await shop();
    const { shared } = failing.store;
    let writes = 0;
    failing.store.shared = (work) => {
      writes += 1;
      // The claim is the first, and the answer the second.
      return writes === 2 ? Promise.reject(new Error("the disk is full")) : shared(work);
    };
    const key = randomUUID();
    expect(await execute({}, key, failing)).toMatchObject({ status: 500 });
    expect(await execute({}, key, failing)).toMatchObject({ status: 422, body: { code: "execution_failed" } });
    expect(server.state.calls).toBe(1);
    failing.pass(60_000);
    await failing.execute.tellDue();
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    await failing.close();
  });

  it("that was overtaken is neither shown nor charged, though its tool has answered", async () => {
    const slow = await openMarketplace(database as Store, { daemonUrl: daemon.url, holder: "slow" });
    const release = Promise.withResolvers<void>();
    const { execute, server, exposure } = await shop({
      call: async () => {
        await release.promise;
        return structured({ value: 9 });
      },
    });
    const key = randomUUID();
    const late = execute({}, key, slow);
    await until("the call", () => server.state.calls === 1);
    await slow.execute.lapseOwn();
    const answer = await execute({}, key);
    expect(answer).toMatchObject({ status: 422 });
    release.resolve();
    expect((await late).status).toBe(503);
    market.pass(60_000);
    await market.execute.tellDue();
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    await slow.close();
  });

  it("is delivered while the daemon is away, and charged once it is back, once", async () => {
    const { execute, start, exposure, session } = await shop({
      call: () => {
        daemon.state.away = true;
        return structured({ value: 7 });
      },
    });
    const sessionId = await start();
    const answered = await execute({ sessionId, closeSession: true }, randomUUID());
    expect(answered).toMatchObject({ status: 200, body: { result: { value: 7 }, session: { spent: "0.001" } } });
    await market.execute.tellDue();
    daemon.state.away = false;
    expect(await exposure()).toEqual({ pending: 0n, held: PRICE });
    market.pass(60_000);
    expect(await market.execute.tellDue()).toBe(0);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
    expect(await session(sessionId)).toMatchObject({ spent: "0.001", status: "closed" });
  });

  it.each([
    ["under a key", randomUUID()],
    ["without a key", undefined],
  ])("%s is charged once though the daemon is away for a minute and more", async (_, key) => {
    const { execute, start, exposure } = await shop({
      call: () => {
        daemon.state.away = true;
        return structured({ value: 7 });
      },
    });
    const sessionId = await start();
    expect(await execute({ sessionId }, key)).toMatchObject({ status: 200 });
    for (let seconds = 0; seconds < 70; seconds += 10) {
      market.pass(10_000);
      expect(await market.execute.tellDue()).toBe(1);
    }
    daemon.state.away = false;
    expect(await exposure()).toEqual({ pending: 0n, held: PRICE });
    // Nobody waits for longer than half a minute once it is back.
    market.pass(30_000);
    expect(await market.execute.tellDue()).toBe(0);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
    expect(await market.execute.tellDue()).toBe(0);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
  });

  it("under a key whose report failed is told of again a second later, not when it would be too late", async () => {
    const { execute, exposure } = await shop({
      call: () => {
        daemon.state.away = true;
        return structured({ value: 7 });
      },
    });
    expect(await execute({}, randomUUID())).toMatchObject({ status: 200 });
    daemon.state.away = false;
    market.pass(1_000);
    expect(await market.execute.tellDue()).toBe(0);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
  });

  it("without a key is charged later too if the daemon goes away meanwhile", async () => {
    const { execute, start, exposure } = await shop({
      call: () => {
        daemon.state.away = true;
        return structured({ value: 7 });
      },
    });
    const sessionId = await start();
    expect(await execute({ sessionId })).toMatchObject({ status: 200 });
    daemon.state.away = false;
    expect(await exposure()).toEqual({ pending: 0n, held: PRICE });
    market.pass(60_000);
    expect(await market.execute.tellDue()).toBe(0);
    expect(await exposure()).toEqual({ pending: PRICE, held: 0n });
  });

  it("that cannot be signed gives back what was reserved for it, at once", async () => {
    const { execute, exposure, server } = await shop();
    const unable = await openMarketplace(database as Store, {
      daemonUrl: daemon.url,
      holder: "unable",
      sign: async () => {
        throw new Error("no key signs");
      },
    });
    try {
      await unable.catalogue.follow();
      expect((await execute({}, randomUUID(), unable)).status).toBe(500);
      expect(await exposure()).toEqual({ pending: 0n, held: 0n });
      expect(server.state.calls).toBe(0);
    } finally {
      await unable.close();
    }
  });

  it("is not made while the daemon is away, and can be asked for again under its key", async () => {
    const { execute, server, start } = await shop();
    const sessionId = await start();
    daemon.state.away = true;
    const key = randomUUID();
    expect(await execute({ sessionId }, key)).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(server.state.calls).toBe(0);
    daemon.state.away = false;
    expect(await execute({ sessionId }, key)).toMatchObject({ status: 200 });
  });

  it("never overruns a session's budget, however many run at once", async () => {
    const { execute, start, session, server } = await shop();
    const sessionId = await start("0.005");
    const replies = await Promise.all(Array.from({ length: 20 }, () => execute({ sessionId })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(replies.filter(({ body }) => body.code === "session_budget_exceeded")).toHaveLength(15);
    expect(server.state.calls).toBe(5);
    expect(await session(sessionId)).toMatchObject({ spent: "0.005", remaining: "0.00" });
  });

  it("among many of one session shows what the session has spent so far, and its own price", async () => {
    const DEAR = { ...GAS, name: "get_gas_history", _meta: { pricing: { executeUsd: "0.003" } } };
    const { execute, start, session, server } = await shop({ methods: [GAS, DEAR] });
    const sessionId = await start("0.05");
    const gates: (() => void)[] = [];
    server.tool.call = async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return structured({ value: 12 });
    };
    type Shown = Record<"methodPrice" | "spent" | "remaining" | "maxSpend" | "pendingAccruedUsd", string> & {
      pendingAccruedCount: number;
    };
    const micros = (usd: string) => Math.round(Number(usd) * 1_000_000);
    const answered: Shown[] = [];
    const calls = Array.from({ length: 20 }, async (_, i) => {
      const toolName = i % 4 === 0 ? DEAR.name : GAS.name;
      const { status, body } = await execute({ sessionId, toolName }, i % 2 === 0 ? `parallel ${i}` : undefined);
      expect(status).toBe(200);
      const shown = body.session as Shown;
      answered.push(shown);
      expect(shown.methodPrice).toBe(i % 4 === 0 ? "0.003" : "0.001");
      expect(body.method).toMatchObject({ executePriceUsd: shown.methodPrice });
      return { i, toolName, body };
    });
    await Promise.race([Promise.all(calls), until("all of them to run", () => gates.length === 20)]);
    for (const open of gates) open();
    const bodies = await Promise.all(calls);
    const total = 5 * 3_000 + 15 * 1_000;
    for (const [i, shown] of answered.entries()) {
      const [spent, remaining] = [micros(shown.spent), micros(shown.remaining)];
      // No answer shows less than one before it, nor less than what was answered so far comes to.
      expect(spent).toBeGreaterThanOrEqual(micros(answered[i - 1]?.spent ?? "0"));
      expect(spent).toBeGreaterThanOrEqual(
        answered.slice(0, i + 1).reduce((sum, { methodPrice }) => sum + micros(methodPrice), 0),
      );
      expect(spent).toBeLessThanOrEqual(total);
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(spent + remaining).toBeLessThanOrEqual(micros(shown.maxSpend));
      expect(shown.pendingAccruedCount).toBeLessThanOrEqual(20);
      expect(micros(shown.pendingAccruedUsd)).toBeLessThanOrEqual(spent);
    }
    expect(micros(answered.at(-1)?.spent ?? "")).toBe(total);
    expect(await session(sessionId)).toMatchObject({ spent: "0.03", remaining: "0.02", maxSpend: "0.05" });
    // What was answered under a key is answered again to the letter.
    for (const { i, toolName, body } of bodies.filter(({ i }) => i % 2 === 0)) {
      expect((await execute({ sessionId, toolName }, `parallel ${i}`)).body).toEqual(body);
    }
    expect(server.state.calls).toBe(20);
  });

  it.each([
    ["with spaces", "turn 7 of agent 12"],
    ["of several thousand characters", "k".repeat(4_000)],
    ["with letters beyond ASCII", "clé d'été ½"],
  ])("is made once under a key %s", async (_, idempotencyKey) => {
    const { execute, server } = await shop();
    const [first, twin] = await Promise.all([execute({}, idempotencyKey), execute({}, idempotencyKey)]);
    expect([first.status, twin.status]).toEqual([200, 200]);
    const again = await execute({}, idempotencyKey);
    expect([again.body, again.headers["idempotency-replayed"]]).toEqual([first.body, "true"]);
    expect(await execute({ args: { chain: "base" } }, idempotencyKey)).toMatchObject({
      status: 409,
      body: { code: "idempotency_conflict" },
    });
    expect((await execute({}, `${idempotencyKey}!`)).headers["idempotency-replayed"]).toBeUndefined();
    expect(server.state.calls).toBe(2);
    expect(await execute({}, " ")).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("of which the price changes is charged at the price that was looked up", async () => {
    const { execute, start, owner, toolId, server } = await shop();
    const sessionId = await start();
    server.state.methods = [{ ...GAS, _meta: { pricing: { executeUsd: "0.25" } } }];
    await market.ask("POST", `/api/v1/tools/${toolId}/refresh`, undefined, await makeKey(market.ask, owner));
    expect((await execute({ sessionId })).body).toMatchObject({
      method: { executePriceUsd: "0.25" },
      session: { spent: "0.25" },
    });
  });

  it("hands over results of several megabytes", async () => {
    const large = { value: 1, rows: Array.from({ length: 50_000 }, (_, i) => ({ i, text: "x".repeat(80) })) };
    const { execute } = await shop({ call: () => structured(large) });
    const { status, body } = await execute({}, randomUUID());
    expect(status).toBe(200);
    expect(body.result).toEqual(large);
  });

  it("is answered again for as long as its account has room, and never made again afterwards", async () => {
    const { server, execute, exposure } = await shop({
      call: () => structured({ value: 1, padding: "x".repeat(KEPT_BYTES / 8) }),
    });
    const keys = Array.from({ length: 12 }, () => randomUUID());
    const small = randomUUID();
    for (const key of keys) expect((await execute({}, key)).status).toBe(200);
    await market.execute.evicted();
    server.tool.call = () => structured({ value: 2 });
    expect((await execute({}, small)).status).toBe(200);
    // Somebody else's answers are somebody else's room.
    const other = await shop();
    const theirs = randomUUID();
    expect((await other.execute({}, theirs)).status).toBe(200);

    for (const key of [keys.at(-1), keys.at(-2), small]) {
      const again = await execute({}, key);
      expect([again.status, again.headers["idempotency-replayed"]]).toEqual([200, "true"]);
    }
    for (const key of keys.slice(0, 2)) {
      expect(await execute({}, key)).toMatchObject({
        status: 409,
        body: { code: "idempotency_conflict", error: expect.stringContaining("not kept any more") },
      });
    }
    expect((await other.execute({}, theirs)).headers["idempotency-replayed"]).toBe("true");
    expect(server.state.calls).toBe(13);
    expect((await exposure()).pending).toBe(13_000n);
    const [row] = await market.store.read.all("SELECT SUM(LENGTH(body)) AS kept FROM executions");
    expect(Number(row?.kept)).toBeLessThan(KEPT_BYTES * 1.5);
  });

  it("has a key that is known for 30 days, longer if it is not told or still runs, and then is as if it were new", async () => {
    const DAY_MS = 24 * 60 * 60 * 1_000;
    const release = Promise.withResolvers<void>();
    const { server, execute, buyer } = await shop();
    const [told, untold, runs, died] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const account = buyer.address.toLowerCase();
    const known = async () =>
      (await market.store.read.all("SELECT idempotency_key FROM executions WHERE account = $1", [account])).map(
        ({ idempotency_key: key }) => key,
      );
    expect((await execute({}, told)).status).toBe(200);
    server.tool.call = () => {
      daemon.state.away = true;
      return structured({ value: 1 });
    };
    expect((await execute({}, untold)).status).toBe(200);
    daemon.state.away = false;
    await market.store.alone((sql) =>
      sql.run(
        `INSERT INTO executions (account, idempotency_key, digest, call_id, claim, holder, lapses_at)
         SELECT account, $2, digest, $2, $2, 'dead', answered_at FROM executions WHERE idempotency_key = $1`,
        [told, died],
      ),
    );

    market.pass(8 * DAY_MS);
    await market.execute.forgetAnswers();
    expect(await execute({}, told)).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
    market.pass(23 * DAY_MS);
    server.tool.call = async () => {
      await release.promise;
      return structured({ value: 1 });
    };
    const running = execute({}, runs);
    await until("the call", () => server.state.calls === 3);
    await market.execute.forgetAnswers();
    expect((await known()).toSorted()).toEqual([untold, runs].toSorted());
    release.resolve();
    expect((await running).status).toBe(200);

    await market.execute.tellDue();
    await market.execute.forgetAnswers();
    expect(await known()).toEqual([runs]);
    expect((await execute({}, told)).headers["idempotency-replayed"]).toBeUndefined();
    expect(server.state.calls).toBe(4);
  });

  it("that fails says nothing of where the tool's server is, nor what that says to others than its callers", async () => {
    const { execute, server, toolId, key } = await shop();
    const { port } = server;
    server.state.broken = `nginx at 10.1.2.3 cannot reach upstream ${port}`;
    const said = [await execute(), await execute({}, randomUUID())];
    server.state.broken = null;
    for (const [head, body] of [
      [[302, { location: "https://internal.example/login" }], ""],
      [[401, {}], "stack at internal.example"],
      [[200, { "content-type": "internal.example/x" }], "internal.example"],
    ] as const) {
      server.tool.call = ({ response }) => void response.writeHead(head[0], head[1]).end(body);
      said.push(await execute());
    }
    server.state.down = true;
    said.push(await execute());
    await server.close();
    said.push(await execute());
    const asked = { query: "What are the current gas prices of Base?", tools: [toolId], includeDeveloperTrace: true };
    said.push(await market.ask("POST", "/api/v1/query", asked, key));
    for (const { status, body } of said) {
      expect(status).toBe(422);
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`10\\.1\\.2|internal|127\\.0|localhost|:${port}`));
    }
    for (let failures = 1; failures <= 3; failures += 1) await market.pingAfter(25 * 60 * 60 * 1_000);
    const page = await market.app.inject({ method: "GET", url: `/tools/${toolId}` });
    expect(page.payload).toContain("Not offered at present: Its server has not answered.");
    expect(page.payload).not.toMatch(new RegExp(`127\\.0|localhost|:${port}`));
  });

  it("leaves evidence of a bounded length in a day, and none that is older than a month", async () => {
    const { execute, toolId } = await shop({
      call: () => structured({ value: "x".repeat(1_000_000) }),
    });
    for (let i = 0; i < 12; i += 1) expect((await execute()).body.warnings).toHaveLength(1);
    const [kept] = await market.store.read.all(
      `SELECT COUNT(*) AS calls, SUM(LENGTH(COALESCE(response, ''))) AS length FROM evidence WHERE tool_id = $1`,
      [toolId],
    );
    expect(Number(kept?.calls)).toBe(12);
    expect(Number(kept?.length)).toBeLessThan(8 * 1024 * 1024);
    market.pass(31 * 24 * 60 * 60 * 1_000);
    await market.execute.forgetAnswers();
    expect(await market.store.read.all("SELECT 1 FROM evidence WHERE tool_id = $1", [toolId])).toEqual([]);
  });

  it("counts for the tool: what it delivered, and what it did not", async () => {
    const { execute, server, toolId } = await shop();
    await execute();
    server.tool.call = () => structured({ value: "wrong" });
    await execute();
    server.tool.call = () => ({ isError: true, content: [] });
    await execute();
    await market.execute.writeCounts();
    await market.catalogue.follow();
    expect((await market.ask("GET", `/api/v1/tools/${toolId}`)).body).toMatchObject({
      totalQueries: 3,
      successRate: "33.33",
    });
  });

  it("makes a name for its tool if somebody has paid for it, and ruins it no more often than that, and once", async () => {
    const free = { ...GAS, name: "get_gas_for_free", _meta: { pricing: { executeUsd: "0" } } };
    const { execute, server, toolId, owner } = await shop({ methods: [GAS, free] });
    const name = async () => {
      await market.execute.writeCounts();
      await market.catalogue.follow();
      const { paidCalls, failedCalls, payers, calls, earned } = (await market.catalogue.find(toolId)) ?? {};
      return { paidCalls, failedCalls, payers, calls, earned };
    };
    await execute({ toolName: "get_gas_for_free" });
    await execute({ toolName: "get_gas_for_free" }, randomUUID());
    expect(await name()).toEqual({ paidCalls: 0, failedCalls: 0, payers: 0, calls: 2, earned: 0n });
    server.tool.call = () => ({ isError: true, content: [] });
    for (let i = 0; i < 3; i += 1) await execute();
    expect(await name()).toEqual({ paidCalls: 0, failedCalls: 1, payers: 0, calls: 5, earned: 0n });
    await execute({ toolName: "get_gas_for_free" });
    server.tool.call = () => structured({ value: 1 });
    await execute();
    await execute({}, randomUUID());
    expect(await name()).toEqual({ paidCalls: 2, failedCalls: 3, payers: 1, calls: 8, earned: 2_000n });
    const other = await makeKey(market.ask, newWallet());
    await market.ask("POST", EXECUTE, { toolId, toolName: "get_gas_prices" }, other);
    await market.ask("POST", EXECUTE, { toolId, toolName: "get_gas_prices" }, await makeKey(market.ask, owner));
    expect(await name()).toEqual({ paidCalls: 3, failedCalls: 3, payers: 2, calls: 9, earned: 3_000n });
  });

  it("makes a name by what was paid, of one wallet by ten dollars at the most", async () => {
    const dear = { ...GAS, _meta: { pricing: { executeUsd: "4" } } };
    const { execute, toolId } = await shop({ methods: [dear] });
    const earned: unknown[] = [];
    for (let call = 1; call <= 4; call += 1) {
      await execute();
      await market.execute.writeCounts();
      await market.catalogue.follow();
      earned.push((await market.catalogue.find(toolId))?.earned);
    }
    expect(earned).toEqual([4_000_000n, 8_000_000n, 10_000_000n, 10_000_000n]);
  });

  it("counts for nothing if the tool's own owner makes it", async () => {
    const { owner, toolId } = await shop();
    const key = await makeKey(market.ask, owner);
    const order = { toolId, toolName: "get_gas_prices" };
    expect(await market.ask("POST", EXECUTE, order, key)).toMatchObject({ status: 200 });
    await market.execute.writeCounts();
    await market.catalogue.follow();
    expect((await market.ask("GET", `/api/v1/tools/${toolId}`)).body).toMatchObject({ totalQueries: 0 });
  });

  it("that fails because of arguments that its method does not take is not held against the tool", async () => {
    const inputSchema = { type: "object", properties: { chain: { type: "string" } }, required: ["chain"] };
    const { execute, server, toolId } = await shop({ methods: [{ ...GAS, inputSchema }] });
    server.tool.call = () => ({ isError: true, content: [{ type: "text", text: "chain must be a text" }] });
    for (const args of [{}, { chain: 7 }]) expect(await execute({ args })).toMatchObject({ status: 422 });
    // What it does in spite of them is its own doing, and so is a failure with those that it takes.
    expect(await execute({ args: { chain: "base" } })).toMatchObject({ status: 422 });
    server.tool.call = () => structured({ value: 1 });
    expect(await execute({ args: {} })).toMatchObject({ status: 200 });
    await market.execute.writeCounts();
    await market.catalogue.follow();
    expect((await market.ask("GET", `/api/v1/tools/${toolId}`)).body).toMatchObject({
      totalQueries: 2,
      successRate: "50",
    });
  });

  it("is given what its method needs to know of the buyer, whatever the buyer says", async () => {
    const method = {
      ...GAS,
      inputSchema: { type: "object", properties: { portfolio: {}, chain: {} } },
      _meta: { contextRequirements: ["wallet"], pricing: { executeUsd: "0.001" } },
    };
    let seen: unknown;
    const { execute, buyer, key } = await shop({
      methods: [method],
      call: ({ args }) => {
        seen = args;
        return structured({ value: 1 });
      },
    });
    expect(await execute()).toMatchObject({ status: 400, body: { code: "method_not_execute_eligible" } });
    const informed = await openMarketplace(database as Store, {
      daemonUrl: daemon.url,
      providers: { wallet: async ([address]) => ({ address }) },
    });
    await execute({ args: { chain: "base", portfolio: "mine" } }, undefined, informed);
    expect(seen).toEqual({ chain: "base", portfolio: { address: buyer.address.toLowerCase() } });
    // A wallet that it has linked is the one that it means.
    const [older, newer] = [newWallet(), newWallet()];
    for (const wallet of [older, newer]) {
      const asked = { wallet: wallet.address, linkTo: buyer.address };
      const { body } = await market.ask("POST", "/api/v1/auth/challenge", asked);
      const message = body.message as string;
      const linked = { message, signature: await wallet.signMessage({ message }) };
      expect((await market.ask("POST", "/api/v1/wallets", linked, key)).status).toBe(200);
    }
    await execute({}, undefined, informed);
    expect(seen).toEqual({ portfolio: { address: newer.address.toLowerCase() } });
    await informed.close();
  });

  it("asks nobody about a wallet for whoever cannot pay, and gives back what was held if they do not answer", async () => {
    const method = { ...GAS, _meta: { contextRequirements: ["wallet"], pricing: { executeUsd: "0.001" } } };
    const { execute, start, session, buyer, server, exposure } = await shop({ methods: [method] });
    let asked = 0;
    let heldMeanwhile: unknown;
    const informed = await openMarketplace(database as Store, {
      daemonUrl: daemon.url,
      providers: {
        wallet: async () => {
          asked += 1;
          heldMeanwhile = await exposure();
          throw new Error("the source is away");
        },
      },
    });
    try {
      for (const refused of [{ sessionId: randomUUID() }, { maxSpendUsd: "0.0005" }])
        await execute(refused, "k", informed);
      daemon.allow(buyer.address, 0n);
      expect(await execute({}, undefined, informed)).toMatchObject({ status: 402 });
      expect(asked).toBe(0);
      daemon.allow(buyer.address, 10n ** 9n);
      const sessionId = await start();
      expect(await execute({ sessionId }, "away", informed)).toMatchObject({
        status: 422,
        body: { code: "execution_failed", session: { sessionId, spent: "0.00", remaining: "1.00" } },
      });
      expect([asked, heldMeanwhile]).toEqual([1, { pending: 0n, held: PRICE }]);
      expect(await session(sessionId)).toMatchObject({ spent: "0.00", remaining: "1.00" });
      expect([server.state.calls, await exposure()]).toEqual([0, { pending: 0n, held: 0n }]);
      // Nothing was sent, so that the key is as good as new.
      await execute({ sessionId }, "away", informed);
      expect(asked).toBe(2);
    } finally {
      await informed.close();
    }
  });

  it("with a budget under a key opens one session, however often it is refused and asked for again", async () => {
    const { execute, buyer, server } = await shop();
    const own = async () => (await daemon.ledger.listSessions(buyer.address, 10, 0)).map(({ id }) => id);
    const key = randomUUID();
    for (let i = 0; i < 3; i += 1) {
      expect(await execute({ maxSpendUsd: "0.0005" }, key)).toMatchObject({
        body: { code: "session_budget_exceeded" },
      });
    }
    expect(await own()).toHaveLength(1);
    // With another budget it is another request, and so is the session.
    const { body } = await execute({ maxSpendUsd: "0.5" }, key);
    const { sessionId } = body.session as { sessionId: string };
    expect(await own()).toHaveLength(2);
    expect((await execute({ maxSpendUsd: "0.5" }, key)).body.session).toMatchObject({ sessionId });
    expect(server.state.calls).toBe(1);
    // One that is over is not gone on in.
    const other = randomUUID();
    await execute({ maxSpendUsd: "0.0005" }, other);
    for (const id of await own()) await daemon.ledger.closeSession(id, Date.now());
    expect(await execute({ maxSpendUsd: "0.0005" }, other)).toMatchObject({
      body: { code: "session_budget_exceeded" },
    });
    expect(await own()).toHaveLength(4);
  });

  it("is ended when the buyer goes away without a key, and costs nothing", async () => {
    const closed = Promise.withResolvers<void>();
    let requestId: unknown;
    const { key, toolId, server, exposure } = await shop({
      call: ({ message, response }) => {
        requestId = message.id;
        response.once("close", () => closed.resolve());
        return undefined;
      },
    });
    const url = await market.listen();
    const leave = new AbortController();
    const asked = fetch(`${url}${EXECUTE}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ toolId, toolName: "get_gas_prices" }),
      signal: leave.signal,
    });
    asked.catch(() => undefined);
    await until("the call", () => server.state.calls === 1);
    leave.abort();
    await closed.promise;
    await until("the void", async () => (await exposure()).held === 0n);
    expect(await exposure()).toEqual({ pending: 0n, held: 0n });
    // A server that works on after its connection is gone is told by name which call is not wanted any more.
    const cancelled = () => server.state.notified.filter(({ method }) => method === "notifications/cancelled");
    await until("the tool to be told", () => cancelled().length > 0);
    expect(cancelled()).toMatchObject([{ params: { requestId } }]);
  });
});

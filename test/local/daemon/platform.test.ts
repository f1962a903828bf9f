import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { PATIENTLY } from "../../../scripts/waiting/until.ts";
import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { NOBODY, useDaemon } from "./useDaemon.ts";

// What the platform reports and asks.
describe("the daemon, for the platform,", () => {
  const { ask, payerOf, toolOf, turnOf, callOf, totals, untilFinal, secrets, place } = useDaemon();

  it("answers a pre-flight with the payer's funds, and a no with its reason", async () => {
    const { body } = await ask("POST", "/v1/preflight", { payer: payerOf(3), amountUsd: "1" });
    expect(body).toMatchObject({ allowed: true, code: "ok", funds: { balanceUsd: "1000.00", allowanceUsd: null } });
    expect(await ask("POST", "/v1/preflight", { payer: payerOf(3), amountUsd: "1000.01" })).toMatchObject({
      status: 200,
      body: { allowed: false, code: "payment_failed", reason: "There is not enough USDC." },
    });
    expect(await ask("POST", "/v1/preflight", { payer: null, amountUsd: "1" })).toMatchObject({
      body: { allowed: false, code: "no_wallet" },
    });
  });

  it("records a turn once, whatever is sent again, and follows it to its proof and into both statements", async () => {
    const recorded = await ask("POST", "/v1/turns", turnOf("turn-1", payerOf(3)));
    const { chargeIds } = recorded.body as unknown as { chargeIds: string[] };
    expect(recorded).toMatchObject({ status: 200, body: { turnId: "turn-1" } });
    expect(chargeIds).toHaveLength(2);
    expect((await ask("POST", "/v1/turns", turnOf("turn-1", payerOf(3)))).text).toBe(recorded.text);
    const other = { ...turnOf("turn-1", payerOf(3)), modelCostUsd: "1" };
    expect(await ask("POST", "/v1/turns", other)).toMatchObject({ status: 409, body: { code: "conflict" } });

    await untilFinal("turn-1");

    const proven = await ask("GET", `/v1/charges/${chargeIds[0]}/proof`);
    expect(proven).toMatchObject({
      status: 200,
      body: { charge: { state: "final" }, settledAt: expect.any(String) },
    });
    const { root: batchId } = proven.body as unknown as { root: `0x${string}` };
    expect(await place().world.router.settledAt(batchId)).toBeGreaterThan(0n);
    expect(await ask("GET", `/v1/batches/${batchId}`)).toMatchObject({
      body: { state: "final", txHashes: [expect.stringMatching(/^0x/)] },
    });

    const statement = await ask("GET", `/v1/payers/${payerOf(3)}/statement?limit=1`);
    const { charges, next } = statement.body as unknown as { charges: { amountUsd: string }[]; next: string };
    const rest = await ask("GET", `/v1/payers/${payerOf(3)}/statement?after=${next}`);
    const both = [...charges, ...(rest.body as unknown as { charges: { amountUsd: string }[] }).charges];
    expect(both.map(({ amountUsd }) => amountUsd).sort()).toEqual(["0.012345", "0.10"]);
    const csv = await ask("GET", `/v1/payers/${payerOf(3)}/statement?format=csv`);
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.text.split("\r\n")).toHaveLength(4);
    expect(csv.text).toMatch(/^accruedAt,chargeId,turnId,/);

    const developer = place().world.tools[0]?.developer.address;
    const earned = await ask("GET", `/v1/developers/${developer}/statement`);
    expect(earned.body).toMatchObject({
      earnings: [{ batchId, toolId: toolOf(0), amountUsd: "0.10", developerShareUsd: "0.09" }],
      next: null,
    });
    expect(await ask("GET", `/v1/tools/${toolOf(0)}`)).toMatchObject({ body: { developerShareUsd: "0.09" } });
    expect(await ask("GET", `/v1/payers/${payerOf(3)}`)).toMatchObject({ body: { pendingUsd: "0.00" } });
  });

  it("refuses a turn that asks more for a tool than it is listed for, and says what may be asked", async () => {
    const price = formatUsd(microUsdc(place().world.tools[0]?.price ?? 0n));
    const tool = { toolId: toolOf(0), calls: 1 };
    const turn = { ...turnOf("dear", payerOf(1)), tools: [{ ...tool, amountUsd: "900" }] };
    const listed = [{ toolId: toolOf(0), atMostUsd: price }];
    const sentence = `costs at most ${price} USDC as it is listed on chain, and 900.00 was asked for it; report the turn again`;
    expect(await ask("POST", "/v1/turns", turn)).toMatchObject({
      status: 409,
      body: { code: "price_exceeded", error: expect.stringContaining(sentence), listed },
    });
    expect(await ask("POST", "/v1/turns", { turns: [turn] })).toMatchObject({
      status: 200,
      body: { turns: [{ outcome: "refused", code: "price_exceeded", listed }] },
    });
    expect(await ask("GET", "/v1/turns/dear")).toMatchObject({ status: 404 });
    const within = { ...turn, tools: [{ ...tool, amountUsd: price }] };
    expect(await ask("POST", "/v1/turns", within)).toMatchObject({ status: 200, body: { turnId: "dear" } });
  });

  it("records many turns in one request, each with an outcome of its own", async () => {
    const listed = Array.from({ length: 400 }, (_, n) => turnOf(`bulk-${n}`, payerOf(3)));
    const before = await totals();
    const first = await ask("POST", "/v1/turns", { turns: listed });
    const outcomesOf = ({ body }: typeof first) => (body as unknown as { turns: { outcome: string }[] }).turns;
    expect(first.status).toBe(200);
    expect(outcomesOf(first).map(({ outcome }) => outcome)).toEqual(listed.map(() => "recorded"));
    expect(outcomesOf(first)[7]).toMatchObject({
      turnId: "bulk-7",
      chargeIds: [expect.any(String), expect.any(String)],
    });

    const mixed = await ask("POST", "/v1/turns", {
      turns: [
        turnOf("bulk-0", payerOf(3)),
        { ...turnOf("bulk-1", payerOf(3)), modelCostUsd: "1" },
        { ...turnOf("bulk-bad", payerOf(3)), payer: "nobody" },
        "no turn at all",
        turnOf("bulk-new", payerOf(3)),
        turnOf("bulk-new", payerOf(3)),
      ],
    });
    expect(outcomesOf(mixed)).toMatchObject([
      { outcome: "duplicate", turnId: "bulk-0" },
      { outcome: "conflict", turnId: "bulk-1", message: "There is another turn bulk-1." },
      { outcome: "invalid", turnId: "bulk-bad", message: expect.stringContaining("payer ") },
      { outcome: "invalid", turnId: null, message: expect.stringContaining("JSON object") },
      { outcome: "recorded", turnId: "bulk-new" },
      { outcome: "duplicate", turnId: "bulk-new" },
    ]);
    const after = await totals();
    expect(Number(after.accruedUsd) - Number(before.accruedUsd)).toBeCloseTo(401 * 0.112345, 6);

    const many = { turns: Array.from({ length: 501 }, () => 0) };
    for (const [body, words] of [
      [many, "turns has more than 500 entries"],
      [{ turns: [] }, "turns is empty"],
      [{ turns: 1 }, "turns must be a list"],
      [{ turns: [], turnId: "x" }, "is not known here"],
    ] as const) {
      const refused = await ask("POST", "/v1/turns", body);
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(refused.text).toContain(words);
    }
  });

  it("judges a list of turns again under its key while one of them is refused, and keeps what came of all", async () => {
    const dear = { ...turnOf("too-dear", payerOf(3)), tools: [{ toolId: toolOf(0), calls: 1, amountUsd: "900" }] };
    const report = async (key: string, turns: readonly object[]) => {
      const { body, headers } = await ask("POST", "/v1/turns", { turns }, { headers: { "idempotency-key": key } });
      const { turns: outcomes } = body as unknown as { turns: { outcome: string }[] };
      return [...outcomes.map(({ outcome }) => outcome), headers.get("idempotency-replayed")];
    };
    const partly = [turnOf("listed-1", payerOf(3)), dear];
    expect(await report("partly", partly)).toEqual(["recorded", "refused", null]);
    expect(await report("partly", partly)).toEqual(["duplicate", "refused", null]);
    expect(await report("all", [turnOf("listed-2", payerOf(3))])).toEqual(["recorded", null]);
    expect(await report("all", [turnOf("listed-2", payerOf(3))])).toEqual(["recorded", "true"]);
  });

  it("holds, captures and voids a call once, and keeps parallel calls within the budget", async () => {
    const opened = { payer: payerOf(2), maxSpendUsd: "0.005", sessionId: "budget" };
    expect(await ask("POST", "/v1/sessions", opened)).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/sessions", opened)).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/sessions", { ...opened, maxSpendUsd: "1" })).toMatchObject({ status: 409 });
    const held = await Promise.all(
      Array.from({ length: 8 }, (_, i) => ask("POST", "/v1/calls", callOf(`b${i}`, "budget"))),
    );
    expect(held.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(held.find(({ status }) => status !== 200)).toMatchObject({
      status: 402,
      body: { code: "session_budget_exceeded", session: { remaining: "0.00", maxSpend: "0.005" } },
    });
    const [one, two] = held.flatMap(({ status }, i) => (status === 200 ? [`b${i}`] : []));
    expect(await ask("POST", `/v1/calls/${one}/capture`)).toMatchObject({ body: { call: { state: "captured" } } });
    expect(await ask("POST", `/v1/calls/${one}/capture`)).toMatchObject({ status: 200 });
    expect(await ask("POST", `/v1/calls/${one}/void`)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await ask("POST", `/v1/calls/${two}/void`)).toMatchObject({ body: { session: { remaining: "0.001" } } });
    expect(await ask("POST", `/v1/calls/${two}/capture`)).toMatchObject({ status: 409 });
    expect(await ask("GET", `/v1/calls/${two}`)).toMatchObject({ body: { call: { state: "voided" } } });

    await ask("POST", "/v1/sessions/budget/close");
    expect(await ask("POST", "/v1/calls", callOf("late", "budget"))).toMatchObject({
      status: 409,
      body: { code: "session_closed", session: { status: "closed" } },
    });
    expect(await ask("GET", "/v1/calls/late")).toMatchObject({ status: 404 });
  });

  it("refuses a call of a session whose time is over", async () => {
    await ask("POST", "/v1/sessions", { payer: payerOf(2), maxSpendUsd: "1", sessionId: "short", ttlSeconds: 1 });
    const status = async () =>
      ((await ask("GET", "/v1/sessions/short")).body as unknown as { session: { status: string } }).session.status;
    await expect.poll(status, PATIENTLY).toBe("expired");
    expect(await ask("POST", "/v1/calls", callOf("expired", "short"))).toMatchObject({
      status: 409,
      body: { code: "session_expired", session: { status: "expired" } },
    });
  });

  it.each([
    ["no payer", { payer: undefined }, "payer is missing"],
    ["a payer that is no address", { payer: "alice" }, "payer must be an address"],
    ["money as a number", { modelCostUsd: 0.1 }, "modelCostUsd must be dollars as a text"],
    ["an exponent", { modelCostUsd: "1e3" }, "modelCostUsd is wrong"],
    ["no such outcome", { outcome: "maybe" }, 'outcome must be "delivered" or "failed"'],
    ["a tool without UUID", { tools: [{ toolId: "x", amountUsd: "1", calls: 1 }] }, "tools[0].toolId is wrong"],
    [
      "too many calls",
      { tools: [{ toolId: "x", amountUsd: "1", calls: 101 }] },
      "tools[0].calls must be from 0 to 100",
    ],
    ["a field that is not known", { model_cost: "1" }, "model_cost is not known here"],
    ["a turn without a name", { turnId: "" }, "turnId must have 1 to 200"],
    ["a hash that is none", { requestHash: "0x12" }, "requestHash must be a hash"],
  ])("refuses a turn with %s and changes nothing", async (_, fields, sentence) => {
    const before = await totals();
    const reply = await ask("POST", "/v1/turns", { ...turnOf("refused"), ...fields });
    expect(reply).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect((reply.body as unknown as { error: string }).error).toContain(sentence);
    expect(await ask("GET", "/v1/turns/refused")).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await totals()).toEqual(before);
  });

  it("refuses a turn that names a tool twice", async () => {
    const [tool] = turnOf("twice").tools;
    const reply = await ask("POST", "/v1/turns", { ...turnOf("twice"), tools: [tool, tool] });
    expect(reply).toMatchObject({ status: 400, body: { error: "Turn twice names a tool twice." } });
  });

  it.each([
    ["GET", "/v1/nothing", undefined, 404, "not_found"],
    ["PUT", "/v1/turns", {}, 404, "not_found"],
    ["GET", "/v1/charges/0x12", undefined, 400, "invalid_request"],
    ["GET", `/v1/charges/0x${"1".repeat(64)}`, undefined, 404, "not_found"],
    ["GET", `/v1/charges/0x${"1".repeat(64)}/proof`, undefined, 404, "not_found"],
    ["GET", `/v1/batches/0x${"1".repeat(64)}`, undefined, 404, "not_found"],
    ["GET", "/v1/sessions/unknown", undefined, 404, "session_not_found"],
    ["POST", "/v1/sessions/unknown/close", undefined, 404, "session_not_found"],
    ["POST", "/v1/calls/unknown/capture", undefined, 404, "not_found"],
    ["POST", "/v1/calls/unknown/void", undefined, 404, "not_found"],
    ["GET", "/v1/batches?limit=1001", undefined, 400, "invalid_request"],
    ["GET", "/v1/batches?limit=many", undefined, 400, "invalid_request"],
    ["GET", `/v1/payers/${NOBODY}/statement?after=x`, undefined, 400, "invalid_request"],
    ["GET", `/v1/payers/${NOBODY}/statement?from=yesterday`, undefined, 400, "invalid_request"],
    ["GET", "/v1/sessions/%E0%A4%A", undefined, 400, "invalid_request"],
    ["POST", "/v1/preflight", `{"payer":"${"x".repeat(70_000)}"}`, 413, "too_large"],
    ["POST", "/v1/turns", `{"turnId":"${"x".repeat(2_100_000)}"}`, 413, "too_large"],
  ])("answers %s %s in the protocol's form", async (method, path, body, status, code) => {
    const reply = await ask(method, path, body);
    expect(reply).toMatchObject({ status, body: { code, error: expect.any(String) } });
    expect(Object.keys(reply.body).sort()).toEqual(["code", "error"]);
  });

  it("answers what is no JSON, no HTTP or too long a header in the protocol's form", async () => {
    const form = await ask("POST", "/v1/turns", "a=b", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(form).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    const key = await ask("POST", "/v1/turns", turnOf("k"), { headers: { "idempotency-key": "" } });
    expect(key).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await raw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
    const header = `GET /health HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await raw(header)).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/);
  });

  it("says of every answer that it is kept nowhere and is what its type says", async () => {
    for (const path of ["/health", "/docs", "/v1/status", "/v1/charges/nonsense", "/nowhere"]) {
      const { headers } = await fetch(`${place().daemon.url}${path}`);
      expect([path, headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
        path,
        "no-store",
        "nosniff",
      ]);
    }
  });

  it("nothing secret is in any line of the log", () => {
    const log = place().daemon.lines.join("");
    expect(log.length).toBeGreaterThan(1_000);
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toContain("sk_live_");
  });

  function raw(text: string): Promise<string> {
    const { hostname, port } = new URL(place().daemon.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = "";
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(answer));
    });
  }
});

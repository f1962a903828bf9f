import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExampleName, type Examples, startExamples } from "../../../examples/startExamples.ts";
import { type Arguments, createMcpClient, type McpClient } from "../../../marketplace/mcp/createMcpClient.ts";
import { createSigner, type Signer } from "../../../marketplace/signing/createSigner.ts";
import { createKeyring } from "../../../marketplace/signing/keyring.ts";
import { CHARGE_META, verifyAnswer } from "../../../marketplace/toolkit/index.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { USDC_ADDRESS } from "../../../scripts/world/world.ts";
import { systemClock } from "../../../settlement/clock.ts";

const issuer = "https://market.example";
const toolId = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
const court = { chainId: 8453, address: `0x${"c0".repeat(20)}` } as const;
const account = privateKeyToAccount(`0x${"33".repeat(32)}`);
const folder = mkdtempSync(join(tmpdir(), "examples-"));

let world: LocalWorld;
let examples: Examples;
let client: McpClient;
let signer: Signer;

beforeAll(async () => {
  world = await startWorld({ payers: 1, payerBalance: 25_500_000n });
  const keyring = await createKeyring(join(folder, "keys.json"));
  signer = createSigner({ issuer, keyring: () => keyring, clock: systemClock });
  examples = await startExamples({
    chain: { rpcUrl: world.url, usdc: USDC_ADDRESS as Address },
    marketplace: { issuer, publicKey: keyring.current.certificate },
    toolIds: { chain: toolId, series: toolId, dates: toolId, mischief: toolId },
    signing: { toolId, account, court },
  });
  client = createMcpClient({ policy: "development", callTimeoutMs: 30_000 });
});
afterAll(async () => {
  await client?.close();
  await examples?.close();
  await world?.stop();
  rmSync(folder, { recursive: true });
});

type CallOptions = { purpose?: "smoke-test"; chargeId?: Hex; timeoutMs?: number };

function call(example: ExampleName, method: string, args: Arguments = {}, options: CallOptions = {}) {
  const { endpoint } = examples.tools[example];
  const { chargeId, purpose, timeoutMs } = options;
  return client.connect(endpoint).callTool(method, args, {
    token: () => signer.sign({ endpoint, toolId, ...(purpose && { purpose }) }),
    ...(chargeId && { meta: { [CHARGE_META]: chargeId } }),
    ...(timeoutMs && { timeoutMs }),
  });
}

it("an example that knows its id answers nobody who has sold it as another tool", async () => {
  const sold = async (example: ExampleName) => {
    const { endpoint } = examples.tools[example];
    const token = () => signer.sign({ endpoint, toolId: randomUUID() });
    return client.connect(endpoint).callTool("nothing", {}, { token });
  };
  // Whoever does not know its own name lets everybody in, who then hears that there is no such method.
  expect(await sold("text")).toMatchObject({ kind: "toolFailed" });
  expect(await sold("series")).toMatchObject({ kind: "infrastructure" });
});

async function resultOf(example: ExampleName, method: string, args: Arguments = {}): Promise<unknown> {
  const outcome = await call(example, method, args);
  if (outcome.kind !== "answered") throw new Error(JSON.stringify(outcome));
  return outcome.result;
}

async function methodsOf(example: ExampleName) {
  const listed = await client.connect(examples.tools[example].endpoint).listTools();
  if (listed.kind !== "listed") throw new Error(JSON.stringify(listed));
  return listed.methods;
}

describe.each<ExampleName>(["chain", "series", "text", "dates", "mischief"])("the example %s", (name) => {
  it("has a price, a schema and an honest answer for every method that is tried out", async () => {
    const methods = await methodsOf(name);
    expect(methods.length).toBeGreaterThanOrEqual(3);
    for (const { name: method, description, inputSchema, outputSchema, _meta } of methods) {
      expect(description, method).toMatch(/\.$/);
      expect(_meta, method).toMatchObject({ pricing: { executeUsd: expect.stringMatching(/^0\.\d+$/) } });
      expect(outputSchema, method).toMatchObject({ type: "object" });
      const properties = inputSchema.properties as Record<string, { examples?: unknown[] }>;
      const required = (inputSchema.required as string[] | undefined) ?? [];
      const args = Object.fromEntries(required.map((field) => [field, properties[field]?.examples?.[0]]));
      const outcome = await call(name, method, args, { purpose: "smoke-test" });
      expect(outcome, method).toMatchObject({ kind: "answered" });
      // The SDK's servers name draft-07, of which these schemas use nothing that has changed since.
      const { $schema, ...schema } = outputSchema ?? {};
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      expect(validate(outcome.kind === "answered" && outcome.result), method).toBe(true);
    }
  });

  it("serves the marketplace and nobody else", async () => {
    const [method] = await methodsOf(name);
    const tool = client.connect(examples.tools[name].endpoint);
    const refused = { kind: "infrastructure", reason: "unauthorized", status: 401 };
    expect(await tool.callTool(method?.name ?? "", {})).toMatchObject(refused);
    const elsewhere = await signer.sign({ endpoint: "https://other.example/mcp", toolId });
    expect(await tool.callTool(method?.name ?? "", {}, { token: async () => elsewhere })).toMatchObject(refused);
  });
});

describe("what they answer", () => {
  it("chain: what is on chain", async () => {
    const [payer] = world.payers;
    const { address = "" } = payer ?? {};
    expect(await resultOf("chain", "get_balances", { address })).toMatchObject({ address, usdc: "25.5" });
    const newest = (await resultOf("chain", "get_block")) as { number: string };
    expect(await resultOf("chain", "get_block", { number: newest.number })).toEqual(newest);
    expect(await resultOf("chain", "get_transaction", { hash: `0x${"0".repeat(64)}` })).toEqual({
      status: "unknown",
      block: null,
      fee: null,
    });
    expect((await call("chain", "get_block", { number: "99999999999" })).kind).toBe("toolFailed");
  });

  it("series: arithmetic", async () => {
    const values = [1, 2, 3, 6];
    expect(await resultOf("series", "describe", { values })).toEqual({
      ...{ count: 4, mean: 3, deviation: Math.sqrt(14 / 3), min: 1, median: 2.5, max: 6 },
    });
    expect(await resultOf("series", "moving_average", { values, window: 2 })).toEqual({
      averages: [null, 1.5, 2.5, 4.5],
    });
    expect(await resultOf("series", "returns", { values: [100, 50, 75, 0] })).toEqual({
      ...{ returns: [-0.5, 0.5, -1], total: -1, drawdown: 1 },
    });
    expect(await resultOf("series", "returns", { values: [0, 1], kind: "log" })).toEqual({
      returns: [null],
      total: null,
      drawdown: 0,
    });
    expect(await resultOf("series", "correlation", { a: [1, 2, 3], b: [6, 4, 2] })).toEqual({ correlation: -1 });
    expect(await resultOf("series", "correlation", { a: [1, 1], b: [1, 2] })).toEqual({ correlation: null });
    expect(await call("series", "correlation", { a: [1, 2], b: [1, 2, 3] })).toMatchObject({
      kind: "toolFailed",
      message: "the series have 2 and 3 values; they must have as many",
    });
  });

  it("text: facts", async () => {
    const text = "Tools earn. Tools pay 1.5 USDC to a@b.co, see https://x.org/y! 👨‍👩‍👧";
    expect(await resultOf("text", "measure", { text: "Tools earn. Ça va? 👨‍👩‍👧" })).toMatchObject({
      characters: 20,
      words: 4,
    });
    expect(await resultOf("text", "keywords", { text, limit: 1 })).toEqual({ keywords: [{ word: "tools", count: 2 }] });
    expect(await resultOf("text", "extract", { text })).toEqual({
      ...{ urls: ["https://x.org/y"], emails: ["a@b.co"], addresses: [], numbers: [1.5] },
    });
    expect(await resultOf("text", "compare", { a: "one two", b: "Two three" })).toEqual({
      ...{ similarity: 1 / 3, onlyInA: ["one"], onlyInB: ["three"] },
    });
  });

  it("dates: as contracts count them", async () => {
    const friday = { trade: "2026-11-13" };
    expect(await resultOf("dates", "settlement_date", friday)).toEqual({
      ...{ settlement: "2026-11-17", skipped: ["2026-11-14", "2026-11-15"] },
    });
    expect(await resultOf("dates", "settlement_date", { ...friday, holidays: ["2026-11-16"] })).toMatchObject({
      settlement: "2026-11-18",
    });
    expect(await resultOf("dates", "settlement_date", { trade: "2026-11-14", days: 0 })).toMatchObject({
      settlement: "2026-11-16",
    });
    expect(await resultOf("dates", "business_days", { from: "2026-11-02", to: "2026-11-16" })).toEqual({
      days: 14,
      businessDays: 10,
    });
    const half = { from: "2026-01-31", to: "2026-07-31" };
    expect(await resultOf("dates", "year_fraction", { ...half, convention: "30/360" })).toEqual({
      days: 180,
      fraction: 0.5,
    });
    expect(await resultOf("dates", "year_fraction", half)).toEqual({ days: 181, fraction: 181 / 365 });
  });

  it("dates: signed by the tool, for the charge", async () => {
    const chargeId: Hex = `0x${"ab".repeat(32)}`;
    const args = { from: "2026-11-02", to: "2026-11-16" };
    const outcome = await call("dates", "business_days", args, { chargeId });
    if (outcome.kind !== "answered") throw new Error(JSON.stringify(outcome));
    const schema = (await methodsOf("dates")).find(({ name }) => name === "business_days")?.outputSchema;
    const content = outcome.raw.structuredContent;
    const given = { toolId, method: "business_days", args, chargeId, content, schema, court, signer: account.address };
    expect(await verifyAnswer(outcome.raw._meta, given)).toMatchObject({ kind: "signed" });
  });

  it.each([
    ["answer_honestly", { kind: "answered" }],
    ["fail", { kind: "toolFailed", message: "out of order" }],
    ["hang_up", { kind: "infrastructure", reason: "disconnected", sent: true }],
    ["redirect", { kind: "infrastructure", reason: "redirected", sent: true }],
    ["lie_about_length", { kind: "infrastructure", reason: "disconnected", sent: true }],
    ["break_promise", { kind: "answered", result: { value: "one" } }],
    ["answer_megabytes", { kind: "answered" }],
  ])("mischief: %s", async (method, expected) => {
    expect(await call("mischief", method)).toMatchObject(expected);
  });

  it("mischief: hang", async () => {
    expect(await call("mischief", "hang", {}, { timeoutMs: 300 })).toMatchObject({ kind: "timedOut" });
  });
});

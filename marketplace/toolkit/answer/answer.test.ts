import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type Hex, hashTypedData, keccak256, stringToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ANSWER_META, CHARGE_META, hashJson, typedAnswer } from "./answer.ts";
import { canonicalJson } from "./canonicalJson.ts";
import { signAnswer, signAnswers } from "./signAnswers.ts";
import { type Expected, verifyAnswer } from "./verifyAnswer.ts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const stranger = privateKeyToAccount(`0x${"22".repeat(32)}`);
const court = { chainId: 8453, address: `0x${"c0".repeat(20)}` } as const;
const toolId = "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b";
const chargeId: Hex = `0x${"ab".repeat(32)}`;
const given = {
  method: "quote",
  args: { of: "ETH", at: 1 },
  chargeId,
  content: { price: 1.5, unit: "USD" },
  schema: { type: "object", required: ["price"] },
};
const NOW_MS = 1_800_000_000_999;
const nowMs = () => NOW_MS;
const expected: Expected = { ...given, toolId, court, signer: account.address, nowMs };

describe("canonical JSON", () => {
  it("is the same text for the same value", () => {
    expect(canonicalJson({ b: [1, { d: null, c: true }], a: "é\n" })).toBe('{"a":"é\\n","b":[1,{"c":true,"d":null}]}');
    expect(canonicalJson({ a: undefined, b: 1e21, c: -0, d: 0.1 })).toBe('{"b":1e+21,"c":0,"d":0.1}');
  });

  it("orders keys by their UTF-16 units, as RFC 8785 does in its example", () => {
    const keys = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
    expect(Object.values(JSON.parse(canonicalJson(keys)))).toHaveLength(7);
    expect([...canonicalJson(keys).matchAll(/:(\d)/g)].map(([, value]) => Number(value))).toEqual([
      2, 4, 6, 7, 1, 5, 3,
    ]);
  });

  it("refuses what is no JSON", () => {
    expect(() => canonicalJson({ a: () => 1 })).toThrow("function");
    expect(() => canonicalJson(1n)).toThrow();
    for (const number of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) {
      expect(() => canonicalJson({ a: [number] })).toThrow(`${number} is no JSON value`);
    }
  });
});

describe("a signed answer", () => {
  it("hashes what was asked, answered and promised, under the court's domain", async () => {
    const answer = await signAnswer(given, { toolId, account, court, nowMs });
    expect(answer).toMatchObject({
      toolId,
      method: "quote",
      chargeId,
      requestHash: keccak256(stringToBytes('{"arguments":{"at":1,"of":"ETH"},"method":"quote"}')),
      answerHash: keccak256(stringToBytes('{"price":1.5,"unit":"USD"}')),
      schemaHash: hashJson(given.schema),
      answeredAt: 1_800_000_000,
    });
    // Written down, so that the contract's side can be compared with it.
    expect(hashTypedData(typedAnswer(answer, court))).toMatchInlineSnapshot(
      `"0x8baac4ef60de5bee0e21f506f94325e2f7a3116da39abfcac11e59c575b9df20"`,
    );
  });

  it("is verified, and whatever is changed in it or about it is found", async () => {
    const signed = await signAnswer(given, { toolId, account, court, nowMs });
    const verify = (changes: Partial<typeof signed>, about: Partial<Expected> = {}) =>
      verifyAnswer({ [ANSWER_META]: { ...signed, ...changes } }, { ...expected, ...about });
    expect(await verify({})).toMatchObject({ kind: "signed", signer: account.address });
    const forged = (field: string) => ({ kind: "forged", field });
    expect(await verify({ answeredAt: signed.answeredAt + 1 })).toEqual(forged("signature"));
    expect(await verify({ signature: `0x${"00".repeat(65)}` })).toEqual(forged("signature"));
    expect(await verify({ method: "Quote" })).toEqual(forged("method"));
    expect(await verify({}, { content: { price: 2 } })).toEqual(forged("answerHash"));
    expect(await verify({}, { args: {} })).toEqual(forged("requestHash"));
    expect(await verify({}, { schema: {} })).toEqual(forged("schemaHash"));
    expect(await verify({}, { chargeId: `0x${"cd".repeat(32)}` })).toEqual(forged("chargeId"));
    expect(await verify({}, { signer: stranger.address })).toEqual(forged("signature"));
    expect(await verify({}, { court: { ...court, chainId: 1 } })).toEqual(forged("signature"));
    expect(await verifyAnswer(undefined, expected)).toEqual({ kind: "unsigned" });
  });

  it("is about now: one of another time could convict nobody, or only when its key is no longer good", async () => {
    const verifyAt = async (answeredAtMs: number, when: { nowMs?: () => number }) => {
      const signed = await signAnswer(given, { toolId, account, court, nowMs: () => answeredAtMs });
      return verifyAnswer({ [ANSWER_META]: signed }, { ...given, toolId, court, ...when });
    };
    for (const offset of [-299_000, 299_000]) {
      expect(await verifyAt(NOW_MS + offset, { nowMs })).toMatchObject({ kind: "signed" });
    }
    for (const offset of [-301_000, 301_000, -4 * 86_400_000, 30 * 86_400_000]) {
      expect(await verifyAt(NOW_MS + offset, { nowMs })).toEqual({ kind: "forged", field: "answeredAt" });
    }
    expect(await verifyAt(Date.now(), {})).toMatchObject({ kind: "signed" });
    expect(await verifyAt(Date.now() - 86_400_000, {})).toEqual({ kind: "forged", field: "answeredAt" });
  });

  it("has one form: the other signature of the same key is refused", async () => {
    const signed = await signAnswer(given, { toolId, account, court, nowMs });
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = order - BigInt(`0x${signed.signature.slice(66, 130)}`);
    const v = signed.signature.endsWith("1b") ? "1c" : "1b";
    const other: Hex = `${signed.signature.slice(0, 66) as Hex}${s.toString(16).padStart(64, "0")}${v}`;
    const found = await verifyAnswer({ [ANSWER_META]: { ...signed, signature: other } }, expected);
    expect(found).toEqual({ kind: "forged", field: "signature" });
  });
});

describe("an MCP server that signs in one line", () => {
  async function callWith(meta?: Record<string, unknown>, name = "quote") {
    const server = signAnswers(new McpServer({ name: "quotes", version: "1.0.0" }), { toolId, account, court });
    const quote = { inputSchema: { of: z.string() }, outputSchema: { price: z.number() } };
    server.registerTool("quote", quote, () => ({ content: [], structuredContent: { price: 1.5 }, _meta: { kept: 1 } }));
    server.registerTool("fail", quote, () => ({ content: [{ type: "text", text: "no" }], isError: true }));
    server.registerTool("talk", {}, () => ({ content: [{ type: "text", text: "hello" }] }));
    const client = new Client({ name: "test", version: "1" });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(theirs), client.connect(ours)]);
    const { tools } = await client.listTools();
    const result = await client.callTool({ name, arguments: { of: "ETH" }, ...(meta && { _meta: meta }) });
    await client.close();
    return { schema: tools.find((tool) => tool.name === name)?.outputSchema, result };
  }

  it("signs an answer that is paid for, with the schema that it lists", async () => {
    const { result, schema } = await callWith({ [CHARGE_META]: chargeId });
    expect(result._meta).toMatchObject({ kept: 1 });
    const content = result.structuredContent;
    const about = { ...expected, args: { of: "ETH" }, content, schema, nowMs: Date.now };
    expect(await verifyAnswer(result._meta, about)).toMatchObject({ kind: "signed", signer: account.address });
  });

  it("signs nothing that it does not promise", async () => {
    for (const [meta, name] of [
      [undefined, "quote"],
      [{ [CHARGE_META]: "no hash" }, "quote"],
      [{ [CHARGE_META]: chargeId }, "fail"],
      [{ [CHARGE_META]: chargeId }, "talk"],
    ] as const) {
      const { result } = await callWith(meta, name);
      expect(result._meta?.[ANSWER_META], name).toBeUndefined();
    }
  });
});

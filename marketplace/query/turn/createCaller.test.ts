import { expect, it } from "vitest";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { McpClient } from "../../mcp/createMcpClient.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { createJudge } from "../../schema/createJudge.ts";
import { createCaller } from "./createCaller.ts";
import { createMemory } from "./createMemory.ts";
import { createTrace } from "./createTrace.ts";

const methodOf = (name: string) => ({ name, description: "", inputSchema: {}, _meta: {} }) as unknown as Method;
const listingOf = (toolId: string, price: bigint) =>
  ({
    toolId,
    name: toolId,
    endpoint: `https://${toolId}.example/mcp`,
    price: microUsdc(price),
    methods: [],
  }) as unknown as Listing;

// Tools that answer their endpoint and what they were asked for.
function open(bound = 1_000n) {
  const mcp = {
    connect: (endpoint: string) => ({
      callTool: async (name: string, args: object) => ({
        kind: "answered",
        result: null,
        raw: { content: [], structuredContent: { endpoint, name, args } },
      }),
    }),
  } as unknown as McpClient;
  return createCaller({
    account: `0x${"1".repeat(40)}`,
    attemptId: "attempt",
    bound: microUsdc(bound),
    held: createMemory().open("account"),
    mcp,
    judge: createJudge(),
    sign: async () => "token",
    linkedWallets: async () => [],
    providers: {},
    observer: { called: () => undefined },
    keepBroken: async () => undefined,
    nowMs: () => 0,
    signal: new AbortController().signal,
    trace: createTrace(() => 0),
    say: () => undefined,
  });
}

it("an output has an alias of its own, whatever a tool calls its method", async () => {
  const caller = open();
  const names = ["get_price", "get-price", "get price", "get.price", "ｇet_price", "get_price_1", "东京", "🐘"];
  for (const [i, name] of names.entries()) await caller.call(listingOf(`tool${i}`, 1n), methodOf(name), {});
  await caller.call(listingOf("tool0", 1n), methodOf("get_price"), { again: true });
  const aliases = caller.outputs.map(({ alias }) => alias);
  expect(new Set(aliases).size).toBe(names.length + 1);
  // As Python reads them.
  expect(aliases.map((alias) => alias.normalize("NFKC"))).toEqual(aliases);
  expect(aliases[0]).toBe("get_price_1");
  expect(caller.outputs[0]?.text).toContain("tool0.example");
});

it("calls that are made at the same time never come to more than the turn may cost", async () => {
  const caller = open(5n);
  const called = await Promise.all(
    Array.from({ length: 8 }, (_, i) => caller.call(listingOf(`tool${i}`, 2n), methodOf("ask"), {})),
  );
  expect(called.filter(({ kind }) => kind === "answered")).toHaveLength(2);
  expect(caller.used().reduce((sum, { price }) => sum + price, 0n)).toBe(4n);
});

import { afterEach, describe, expect, it } from "vitest";
import { SettlementError } from "../../domain/errors.ts";
import { createEndpoints, type EndpointObservation, type EndpointsOptions } from "./endpoints.ts";
import { JsonRpcError } from "./jsonRpc.ts";
import { type Behaviour, type RpcRequest, type ScriptedRpc, startScriptedRpc } from "./testing/scriptedRpc.ts";

const CHAIN_ID = 8453;

const nodes: ScriptedRpc[] = [];

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

// A node of the right chain that treats every other request as the test says.
async function startNode(behave: (request: RpcRequest) => Behaviour, chainId = CHAIN_ID): Promise<ScriptedRpc> {
  const node = await startScriptedRpc((request) =>
    request.method === "eth_chainId" ? { kind: "result", result: `0x${chainId.toString(16)}` } : behave(request),
  );
  nodes.push(node);
  return node;
}

const answering = (result: unknown) => (): Behaviour => ({ kind: "result", result });

// For a node that never answers: long enough for the others on the slowest machine.
const SHORT = { timeoutMs: 2_000 };

function setUp(given: readonly ScriptedRpc[], options: Partial<EndpointsOptions> = {}) {
  const time = { nowMs: 1_000_000 };
  const observations: EndpointObservation[] = [];
  const endpoints = createEndpoints({
    addresses: given.map(({ url }, i) => ({ name: `node-${i}`, url })),
    chainId: CHAIN_ID,
    clock: { nowMs: () => time.nowMs },
    random: () => 0,
    readRetries: 0,
    observe: (observation) => observations.push(observation),
    ...options,
  });
  return { endpoints, time, observations };
}

const failures: readonly [name: string, behaviour: Behaviour, outcome: EndpointObservation["outcome"]][] = [
  ["answers with HTTP status 500", { kind: "status", status: 500, text: "<html>" }, "http_status"],
  ["answers with HTTP status 429", { kind: "status", status: 429 }, "rate_limited"],
  ["asks for fewer requests in JSON", { kind: "error", code: -32005, message: "limit exceeded" }, "rate_limited"],
  ["answers with garbage", { kind: "text", text: "not JSON at all" }, "invalid_answer"],
  ["answers another request", { kind: "text", text: '{"jsonrpc":"2.0","id":0,"result":"0x1"}' }, "invalid_answer"],
  ["answers with an empty object", { kind: "text", text: "{}" }, "invalid_answer"],
  ["answers with null", { kind: "text", text: "null" }, "invalid_answer"],
  ["is cut off in the middle of its answer", { kind: "cut" }, "network"],
  ["never answers", { kind: "hang" }, "timeout"],
];

describe("reading", () => {
  it.each(failures)("goes to the next endpoint if the first %s", async (_, behaviour, outcome) => {
    const first = await startNode(() => behaviour);
    const second = await startNode(answering("0x2a"));
    const { endpoints, observations } = setUp([first, second], behaviour.kind === "hang" ? SHORT : {});

    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2a");
    expect(observations.map(({ endpoint, outcome }) => [endpoint, outcome])).toEqual([
      ["node-0", "ok"],
      ["node-0", outcome],
      ["node-1", "ok"],
      ["node-1", "ok"],
    ]);
  });

  it("goes to the next endpoint if the first sends more than an answer can be", async () => {
    const first = await startNode(answering("0".repeat(33 * 2 ** 20)));
    const second = await startNode(answering("0x2a"));
    const { endpoints, observations } = setUp([first, second]);

    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2a");
    expect(observations[1]).toMatchObject({ endpoint: "node-0", outcome: "invalid_answer" });
  });

  it("goes to the next endpoint if nobody listens at the first", async () => {
    const gone = await startNode(answering("0x1"));
    await gone.stop();
    nodes.splice(nodes.indexOf(gone), 1);
    const second = await startNode(answering("0x2a"));
    expect(await setUp([gone, second]).endpoints.read("eth_blockNumber", [])).toBe("0x2a");
  });

  it("stays with the first endpoint as long as it answers", async () => {
    const first = await startNode(answering("0x1"));
    const second = await startNode(answering("0x2"));
    const { endpoints } = setUp([first, second]);
    for (let i = 0; i < 3; i += 1) expect(await endpoints.read("eth_blockNumber", [])).toBe("0x1");
    expect(first.asked).toEqual(["eth_chainId", "eth_blockNumber", "eth_blockNumber", "eth_blockNumber"]);
    expect(second.asked).toEqual([]);
  });

  it("leaves a failed endpoint alone, twice as long after each failure that follows, and then returns to it", async () => {
    const first = await startNode(() => ({ kind: "status", status: 500 }));
    const second = await startNode(answering("0x2"));
    const { endpoints, time } = setUp([first, second], { minBackoffMs: 1_000, maxBackoffMs: 60_000 });
    const asksFirst = async () => {
      const before = first.asked.length;
      await endpoints.read("eth_blockNumber", []);
      return first.asked.length > before;
    };

    // With the least luck a delay is half of the backoff.
    expect(await asksFirst()).toBe(true);
    time.nowMs += 499;
    expect(await asksFirst()).toBe(false);
    time.nowMs += 1;
    expect(await asksFirst()).toBe(true);
    time.nowMs += 999;
    expect(await asksFirst()).toBe(false);
    time.nowMs += 1;
    first.script = ({ method }) => ({ kind: "result", result: method === "eth_chainId" ? "0x2105" : "0x1" });
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x1");
  });

  it("counts failures of the same moment once", async () => {
    const first = await startNode(answering("0x1"));
    const second = await startNode(answering("0x2"));
    const { endpoints, time } = setUp([first, second], { minBackoffMs: 1_000 });
    await endpoints.read("eth_blockNumber", []);
    const { script } = first;
    first.script = () => ({ kind: "cut" });
    await Promise.all(Array.from({ length: 10 }, () => endpoints.read("eth_blockNumber", [])));
    first.script = script;
    time.nowMs += 500;
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x1");
  });

  it("never waits longer than the longest backoff, whatever the endpoint asks for", async () => {
    const first = await startNode(() => ({ kind: "status", status: 429, headers: { "retry-after": "86400" } }));
    const second = await startNode(answering("0x2"));
    const { endpoints, time } = setUp([first, second], { maxBackoffMs: 5_000 });
    await endpoints.read("eth_blockNumber", []);
    first.script = ({ method }) => ({ kind: "result", result: method === "eth_chainId" ? "0x2105" : "0x1" });
    time.nowMs += 4_999;
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2");
    time.nowMs += 1;
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x1");
  });

  it("does not lose an endpoint to a clock that was set back", async () => {
    const first = await startNode(() => ({ kind: "status", status: 500 }));
    const second = await startNode(answering("0x2"));
    const { endpoints, time } = setUp([first, second]);
    await endpoints.read("eth_blockNumber", []);
    const before = first.asked.length;
    time.nowMs -= 86_400_000;
    await endpoints.read("eth_blockNumber", []);
    expect(first.asked.length).toBeGreaterThan(before);
  });

  it("never uses an endpoint of another chain, not even for a read", async () => {
    const first = await startNode(answering("0xbad"), 1);
    const second = await startNode(answering("0x2a"));
    const { endpoints, observations } = setUp([first, second]);
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2a");
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2a");
    expect(first.asked).toEqual(["eth_chainId"]);
    expect(observations).toContainEqual(expect.objectContaining({ endpoint: "node-0", outcome: "chain_mismatch" }));
  });

  it("asks for the chain id again after a failure, in case another node has taken the address", async () => {
    const only = await startNode(() => ({ kind: "status", status: 500 }));
    const { endpoints } = setUp([only]);
    await expect(endpoints.read("eth_blockNumber", [])).rejects.toMatchObject({ code: "chain_unavailable" });
    only.script = () => ({ kind: "result", result: "0x1" });
    await expect(endpoints.read("eth_blockNumber", [])).rejects.toMatchObject({ code: "chain_mismatch" });
  });

  it("takes an endpoint back that did not say its chain id for a while", async () => {
    const unclear: Behaviour[] = [
      { kind: "result", result: null },
      { kind: "error", code: -32000, message: "starting up" },
    ];
    for (const behaviour of unclear) {
      const first = await startNode(answering("0x1"));
      const second = await startNode(answering("0x2"));
      const { endpoints, time } = setUp([first, second]);
      const { script } = first;
      first.script = () => behaviour;
      expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2");
      first.script = script;
      time.nowMs += 60_000;
      expect(await endpoints.read("eth_blockNumber", [])).toBe("0x1");
    }
  });

  it("fails with chain_mismatch for good if every endpoint is of another chain", async () => {
    const { endpoints } = setUp([await startNode(answering("0x1"), 1), await startNode(answering("0x1"), 10)]);
    for (let i = 0; i < 2; i += 1) {
      await expect(endpoints.read("eth_blockNumber", [])).rejects.toMatchObject({
        code: "chain_mismatch",
        retryable: false,
        message: expect.stringMatching(/node-\d serves chain \d+, not 8453/),
      });
    }
  });

  it("fails with chain_unavailable, to be tried again, if no endpoint answers", async () => {
    const nodes = [await startNode(() => ({ kind: "status", status: 503 })), await startNode(() => ({ kind: "cut" }))];
    const error = await setUp(nodes)
      .endpoints.read("eth_blockNumber", [])
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SettlementError);
    expect(error).toMatchObject({ code: "chain_unavailable", retryable: true });
    expect(String(error)).toContain("node-0 answered with HTTP status 503; node-1 could not be reached");
  });

  it("goes through all endpoints again before it gives up", async () => {
    let left = 2;
    const flaky = await startNode(() => {
      left -= 1;
      return left >= 0 ? { kind: "status", status: 502 } : { kind: "result", result: "0x2a" };
    });
    const { endpoints } = setUp([flaky], { readRetries: 2, retryDelayMs: 1 });
    expect(await endpoints.read("eth_blockNumber", [])).toBe("0x2a");
  });

  it("takes a revert for an answer, wherever the node puts it, and asks nobody else", async () => {
    const reverts: Behaviour[] = [
      { kind: "error", code: 3, message: "execution reverted", data: "0x1234" },
      { kind: "error", code: -32015, message: "VM execution error.", data: "Reverted 0x1234" },
      { kind: "error", code: -32603, message: "Internal JSON-RPC error", data: { data: "0x1234" } },
      { kind: "error", code: 3, message: "execution reverted", data: "0x1234", status: 500 },
    ];
    for (const revert of reverts) {
      const first = await startNode(() => revert);
      const second = await startNode(answering("0x"));
      await expect(setUp([first, second]).endpoints.read("eth_call", [])).rejects.toBeInstanceOf(JsonRpcError);
      expect(second.asked).toEqual([]);
    }
  });

  it("asks the next endpoint if a node cannot do what another may, and passes its no on if all say no", async () => {
    const pruned: Behaviour = { kind: "error", code: -32000, message: "missing trie node", data: "at block 0x1234" };
    const first = await startNode(() => pruned);
    const second = await startNode(answering("0x2a"));
    const { endpoints } = setUp([first, second]);
    expect(await endpoints.read("eth_call", [])).toBe("0x2a");
    second.script = () => pruned;
    await expect(endpoints.read("eth_call", [])).rejects.toThrow("missing trie node");
  });

  it("takes a missing receipt for missing only if no endpoint has it", async () => {
    const lagging = await startNode(answering(null));
    const other = await startNode(answering({ status: "0x1" }));
    const { endpoints } = setUp([lagging, other]);
    expect(await endpoints.read("eth_getTransactionReceipt", [])).toEqual({ status: "0x1" });
    other.script = answering(null);
    expect(await endpoints.read("eth_getTransactionReceipt", [])).toBeNull();
  });
});

describe("asking all", () => {
  const askAll = ({ endpoints }: ReturnType<typeof setUp>) =>
    Promise.all(endpoints.askAll("eth_sendRawTransaction", []));

  it("reaches every healthy endpoint and keeps result, no and failure apart", async () => {
    const answers = await askAll(
      setUp(
        [
          await startNode(answering("0xhash")),
          await startNode(() => ({ kind: "error", code: -32000, message: "nonce too low", status: 400 })),
          await startNode(() => ({ kind: "hang" })),
          await startNode(() => ({ kind: "status", status: 502 })),
          await startNode(() => ({ kind: "status", status: 429 })),
        ],
        SHORT,
      ),
    );
    expect(answers).toMatchObject([
      { kind: "result", endpoint: "node-0", result: "0xhash" },
      { kind: "error", endpoint: "node-1", error: { message: "nonce too low" } },
      { kind: "failure", endpoint: "node-2", mayHaveArrived: true },
      { kind: "failure", endpoint: "node-3", mayHaveArrived: true },
      // Whoever asks for fewer requests has not served this one.
      { kind: "failure", endpoint: "node-4", mayHaveArrived: false },
    ]);
  });

  it("sends nothing to an endpoint that does not say its chain id, or says another one", async () => {
    const silent = await startScriptedRpc(() => ({ kind: "hang" }));
    const other = await startNode(answering("0xhash"), 1);
    nodes.push(silent);
    expect(await askAll(setUp([silent, other], SHORT))).toMatchObject([
      { kind: "failure", mayHaveArrived: false },
      { kind: "failure", mayHaveArrived: false },
    ]);
    expect([...silent.asked, ...other.asked]).toEqual(["eth_chainId", "eth_chainId"]);
  });

  it("leaves out an endpoint that has just failed", async () => {
    const failing = await startNode(() => ({ kind: "status", status: 500 }));
    const healthy = await startNode(answering("0xhash"));
    const set = setUp([failing, healthy]);
    expect(await askAll(set)).toHaveLength(2);
    expect(await askAll(set)).toMatchObject([{ endpoint: "node-1", result: "0xhash" }]);
  });
});

describe("an endpoint's address", () => {
  it.each([
    ["no URL", "localhost"],
    ["another protocol", "ws://127.0.0.1:8545"],
    ["a password", "https://user:secret@example.com"],
  ])("is refused if it is or has %s, without being repeated", (_, url) => {
    const create = () => setUp([{ url } as ScriptedRpc]);
    expect(create).toThrow(SettlementError);
    expect(create).toThrow(expect.objectContaining({ code: "invalid_config" }));
    expect(create).not.toThrow(url);
  });

  it("appears in no error, because it may hold an API key", async () => {
    for (const [, behaviour] of failures) {
      const node = await startNode(() => behaviour);
      const { endpoints } = setUp([{ ...node, url: `${node.url}/v2/api-key` }]);
      let error: unknown = await endpoints.read("eth_blockNumber", []).catch((error: unknown) => error);
      for (let depth = 0; error instanceof Error; depth += 1) {
        expect(`${error.message} ${error.stack}`).not.toContain("api-key");
        error = error.cause;
        expect(depth).toBeLessThan(8);
      }
    }
  });
});

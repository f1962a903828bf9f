import { numberToHex } from "viem";
import { afterEach, expect, it } from "vitest";
import { createEndpoints } from "./endpoints.ts";
import { createSurvey, type EndpointStanding } from "./survey.ts";
import { type Behaviour, type ScriptedRpc, startScriptedRpc } from "./testing/scriptedRpc.ts";

const CHAIN_ID = 8453;
const NOW_MS = 1_800_000_000_000;
const nodes: ScriptedRpc[] = [];

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

const answer = (result: unknown): Behaviour => ({ kind: "result", result });

// A node that has everything up to a block; one block every two seconds.
async function startNode(head: { number: number }): Promise<ScriptedRpc> {
  const node = await startScriptedRpc(({ method, params }) => {
    if (method === "eth_chainId") return answer(numberToHex(CHAIN_ID));
    if (method !== "eth_getBlockByNumber") return answer("0x1");
    const number =
      params[0] === "latest" ? head.number : params[0] === "finalized" ? head.number - 600 : Number(params[0]);
    if (number > head.number) return answer(null);
    const timestamp = numberToHex(NOW_MS / 1_000 - 2 * (10_000 - number));
    return answer({ number: numberToHex(number), hash: numberToHex(number, { size: 32 }), timestamp });
  });
  nodes.push(node);
  return node;
}

function setUp(given: readonly ScriptedRpc[]) {
  const time = { nowMs: NOW_MS };
  const clock = { nowMs: () => time.nowMs };
  const endpoints = createEndpoints({
    addresses: given.map(({ url }, i) => ({ name: `node ${i + 1}`, url })),
    chainId: CHAIN_ID,
    clock,
    random: () => 0,
    readRetries: 0,
  });
  const standings: EndpointStanding[][] = [];
  const survey = createSurvey({
    endpoints,
    clock,
    finalityDepthBlocks: undefined,
    compared: (all) => standings.push([...all]),
  });
  return { endpoints, survey, time, standings };
}

const asked = ({ asked: methods }: ScriptedRpc, method: string) => methods.filter((one) => one === method).length;

it("has the one that goes on asked first when the first stands still, and the first again when it has caught up", async () => {
  const head = { number: 9_000 };
  const [first, second] = [await startNode(head), await startNode({ number: 10_000 })];
  const { endpoints, survey, time, standings } = setUp([first, second]);
  expect((await survey())?.finalized).toMatchObject({ number: 9_400n });
  await endpoints.read("eth_gasPrice", []);
  expect([asked(first, "eth_gasPrice"), asked(second, "eth_gasPrice")]).toEqual([0, 1]);
  expect(standings.at(-1)?.map(({ standing }) => standing.kind)).toEqual(["stale", "fresh"]);

  head.number = 10_000;
  time.nowMs += 1_000;
  await survey();
  await endpoints.read("eth_gasPrice", []);
  expect([asked(first, "eth_gasPrice"), asked(second, "eth_gasPrice")]).toEqual([1, 1]);
});

it("asks for heads once a second at the most, and not at all when there is nothing to compare", async () => {
  const [first, second] = [await startNode({ number: 10_000 }), await startNode({ number: 10_000 })];
  const { survey, time } = setUp([first, second]);
  await Promise.all([survey(), survey()]);
  await survey();
  expect(asked(first, "eth_getBlockByNumber")).toBe(2);
  time.nowMs += 1_000;
  await survey();
  expect(asked(first, "eth_getBlockByNumber")).toBe(4);

  const alone = setUp([first]);
  expect(await alone.survey()).toBeNull();
  expect(asked(first, "eth_getBlockByNumber")).toBe(4);
});

it("tells of one that is silent, and goes by what the other says", async () => {
  const [first, second] = [await startNode({ number: 10_000 }), await startNode({ number: 9_999 })];
  first.script = () => ({ kind: "status", status: 500 });
  const { survey, standings } = setUp([first, second]);
  expect((await survey())?.order).toEqual(["node 2"]);
  expect(standings.at(-1)?.map(({ standing }) => standing.kind)).toEqual(["silent", "fresh"]);
});

it("asks one endpoint all questions of a step, and the next one all of them again", async () => {
  const [first, second] = [await startNode({ number: 10_000 }), await startNode({ number: 10_000 })];
  const script = first.script;
  first.script = (request) => (request.method === "eth_getLogs" ? { kind: "status", status: 500 } : script(request));
  const { endpoints } = setUp([first, second]);
  const step = () =>
    endpoints.fromOne(async (read) => {
      await read("eth_gasPrice", []);
      return read("eth_getLogs", []);
    });
  expect(await step()).toBe("0x1");
  expect(second.asked.filter((method) => method !== "eth_chainId")).toEqual(["eth_gasPrice", "eth_getLogs"]);
});

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JsonRpcProvider } from "ethers";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ANSWER_META, verifyAnswer } from "../../../marketplace/toolkit/index.ts";
import { isAlive } from "../../../scripts/process/isAlive.ts";
import { type Program, startProgram } from "../../../scripts/process/startProgram.ts";
import { PATIENTLY } from "../../../scripts/waiting/until.ts";
import { readDeployment } from "../../../settlement/deployment.ts";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { SchemaCourt__factory, ToolStaking__factory } from "../../../typechain-types/index.ts";
import { askOf } from "../daemon/testDaemon.ts";

// Which of the node's accounts are developers, and where Base and every local chain have USDC.
const DEVELOPERS = [10, 11, 12, 13, 14];
const [, , , DATES_DEVELOPER = 0, MISCHIEF_DEVELOPER = 0] = DEVELOPERS;
const SECRETS = [
  "service-token",
  "console-token",
  "keystore-password",
  "operator.json",
  "signing-keys.json",
  "answers.json",
  "api-keys.json",
  "api-key",
];
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

type Found = { id: string; mcpTools: { name: string; outputSchema: unknown }[] };
type Bought = { signedAnswer: { chargeId: `0x${string}`; schemaHash: string } };

let folder: string;
const started: Program[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "start-"));
});

afterAll(async () => {
  await Promise.all(started.map((stack) => stack.stop()));
  rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]): Program {
  const stack = startProgram("node_modules/.bin/node", ["--import", "tsx", "scripts/start/index.ts", ...args]);
  started.push(stack);
  return stack;
}

const stateOf = (name: string) => join(folder, name);
const startOn = (name: string, ...args: string[]) =>
  start("--port", "0", "--marketplace-port", "0", "--rpc-port", "0", "--state", stateOf(name), ...args);

async function running(stack: Program) {
  await stack.printed("Ctrl-C stops everything");
  const found = (pattern: RegExp) => pattern.exec(stack.output())?.[1] ?? "";
  return {
    api: found(/API +(http:\S+)\/docs/),
    market: found(/marketplace +(http:\S+)/),
    rpcUrl: found(/chain +(http:\S+) \(/),
    curl: found(/Buy a call yourself:\n\n([\s\S]+?)\n\n/),
  };
}

async function shell(line: string): Promise<string> {
  const { code, stdout, stderr } = await startProgram("sh", ["-c", line]).ended;
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

// A process of the stack, by what its command line names.
const processOf = (stack: Program, name: string) =>
  childrenOf(stack.pid).find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name)) ?? 0;

async function rpc<T>(url: string, method: string, params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return ((await response.json()) as { result: T }).result;
}

// What developers have in their wallets: they staked all that they had, so it was paid out to them.
async function paidOut(url: string): Promise<bigint> {
  const accounts = await rpc<string[]>(url, "eth_accounts", []);
  let sum = 0n;
  for (const position of DEVELOPERS) {
    const data = `0x70a08231${accounts[position]?.slice(2).padStart(64, "0")}`;
    sum += BigInt(await rpc<string>(url, "eth_call", [{ to: USDC, data }, "latest"]));
  }
  return sum;
}

// Half of a tool's stake, and some of it in any case: the demo may have asked for it itself, and cannot ask twice.
async function requestWithdrawal(url: string, toolId: string, developer: number): Promise<void> {
  const provider = new JsonRpcProvider(url, undefined, { staticNetwork: true });
  const staking = ToolStaking__factory.connect(stakingOf("whole"), await provider.getSigner(developer));
  const id = toolIdFromUuid(toolId);
  const { stake } = await staking.tool(id);
  await staking.requestWithdrawal(id, stake / 2n).catch(() => undefined);
  await expect.poll(async () => (await staking.tool(id)).withdrawing, PATIENTLY).toBeGreaterThan(0n);
  provider.destroy();
}

const tokenOf = (name: string) => readFileSync(join(stateOf(name), "service-token"), "utf8").trim();

const settledUsd = async (api: string, name: string) => {
  const { body } = await askOf(api)("GET", "/v1/status", undefined, { key: tokenOf(name) });
  return Number((body as unknown as { totals: { settledUsd: string } }).totals.settledUsd);
};

const contractsOf = (name: string) => readDeployment(join(stateOf(name), "deployments", "local.json")).contracts;
const routerOf = (name: string) => contractsOf(name).router.address;
const stakingOf = (name: string) => contractsOf(name).staking.address;

// What a stack has started, by the processes that its lock and its children name.
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

async function nothingIsLeft(pids: readonly number[], urls: readonly string[]): Promise<void> {
  await expect.poll(() => pids.filter(isAlive), PATIENTLY).toEqual([]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
}

it("one command runs everything until Ctrl-C, and the next one goes on, whatever is killed in between", async () => {
  const first = startOn("whole");
  const { api, market, rpcUrl, curl } = await running(first);
  const children = childrenOf(first.pid);
  expect(children.length).toBeGreaterThanOrEqual(4);
  await expect.poll(() => settledUsd(api, "whole"), PATIENTLY).toBeGreaterThan(0);
  await expect.poll(() => paidOut(rpcUrl), PATIENTLY).toBeGreaterThan(0n);
  await first.printed(/batch settled +\d+ calls? of \d+ payers?, [\d.]+ USDC, [\d,]+ gas per call/);
  await first.printed(/paid out +[A-Z][a-z]+ [A-Z][a-z]+ [\d.]+/);
  // The link that is printed leads into the console, as somebody who is logged in.
  const [, page, token] = /console +(http:\S+)#token=(\S+)/.exec(first.output()) ?? [];
  expect(await (await fetch(page ?? "")).text()).toContain("<title>");
  const login = await askOf(api)("POST", "/console/login", { token }, { key: null });
  expect(login).toMatchObject({ status: 200, body: { loggedIn: true } });
  // The call that it invites to is bought as it stands, and README has it word for word.
  const bought = JSON.parse(await shell(curl));
  expect(bought).toMatchObject({ result: { count: 6, max: 9 }, session: { spent: "0.001" } });
  const keyFile = join(stateOf("whole"), "api-key");
  const usual = curl
    .replace(market, "http://127.0.0.1:8788")
    // A path with a space is printed in quotes.
    .replace(curl.includes(`'${keyFile}'`) ? `'${keyFile}'` : keyFile, ".local/api-key");
  expect(readFileSync("README.md", "utf8")).toContain(usual);
  // The tool that signs does so, with the key that its developer has registered, for the schema that is pinned.
  const apiKey = readFileSync(keyFile, "utf8").trim();
  const shop = (method: string, path: string, body?: object) => askOf(market)(method, path, body, { key: apiKey });
  const [dates] = (await shop("GET", "/api/v1/tools/search?q=settlement+date")).body.tools as unknown as Found[];
  const toolName = "business_days";
  const args = { from: "2026-11-02", to: "2026-11-16" };
  const order = { toolId: dates?.id ?? "", toolName, args };
  const { signedAnswer } = (await shop("POST", "/api/v1/tools/execute", order)).body as unknown as Bought;
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true });
  const courtAddress = contractsOf("whole").schemaCourt.address as Address;
  const verified = await verifyAnswer(
    { [ANSWER_META]: signedAnswer },
    {
      ...{ toolId: order.toolId, method: toolName, args, chargeId: signedAnswer.chargeId },
      content: { days: 14, businessDays: 10 },
      schema: dates?.mcpTools.find(({ name }) => name === toolName)?.outputSchema,
      court: { chainId: 31337, address: courtAddress },
    },
  );
  if (verified.kind !== "signed") throw new Error(`the answer is ${verified.kind}`);
  const court = SchemaCourt__factory.connect(courtAddress, provider);
  const onChain = toolIdFromUuid(order.toolId);
  expect((await court.keyPeriod(onChain, verified.signer)).from).toBeGreaterThan(0n);
  expect(await court.lastSchema(onChain, toolName)).toBe(signedAnswer.schemaHash);
  provider.destroy();
  // The console knows what people call the tools, and whoever cannot pay is sent to a page that is there.
  const namesOf = async () => {
    const { body } = await askOf(api)("GET", "/v1/tools", undefined, { key: null });
    return (body as unknown as { tools: { name: string | null }[] }).tools.map(({ name }) => name).sort();
  };
  await expect
    .poll(namesOf, PATIENTLY)
    .toEqual(["Chain data", "Mischief", "Settlement dates", "Text facts", "Time series"]);
  const refused = await askOf(api)("POST", "/v1/preflight", { payer: null, amountUsd: "1" }, { key: tokenOf("whole") });
  expect(refused).toMatchObject({ status: 200, body: { code: "no_wallet" } });
  expect((await fetch((refused.body as unknown as { helpUrl: string }).helpUrl)).status).toBe(200);
  // Secrets are their owner's alone, and none is in a log.
  for (const name of SECRETS) expect(statSync(join(stateOf("whole"), name)).mode & 0o077, name).toBe(0);
  const logs = ["daemon.log", "marketplace.log"].map((name) => readFileSync(join(stateOf("whole"), name), "utf8"));
  for (const log of logs) {
    expect(log).not.toContain(tokenOf("whole"));
    expect(log).not.toContain("sk_live_");
  }

  // It is stopped while the developer whose luck changes has asked for a part of the stake, as has one who is somebody's experiment.
  const [mischief] = (await shop("GET", "/api/v1/tools/search?q=mischief")).body.tools as unknown as Found[];
  await requestWithdrawal(rpcUrl, order.toolId, DATES_DEVELOPER);
  await requestWithdrawal(rpcUrl, mischief?.id ?? "", MISCHIEF_DEVELOPER);

  const second = startOn("whole");
  expect(await second.ended).toMatchObject({ code: 1 });
  expect(second.output()).toContain(`already, as process ${first.pid}`);

  first.signal("SIGINT");
  // npm passes the same signal on; together they are one Ctrl-C.
  first.signal("SIGINT");
  expect(await first.ended).toMatchObject({ code: 0, signal: null });
  expect(logs[0]).not.toContain("halted");
  await nothingIsLeft(children, [api, market, rpcUrl]);
  copyFileSync(join(stateOf("whole"), "chain.json"), join(folder, "older.json"));

  const router = routerOf("whole");
  const again = startOn("whole");
  const { api: newApi, market: newMarket, rpcUrl: newRpcUrl, curl: newCurl } = await running(again);
  expect(again.output()).toContain("Going on from");
  expect(again.output()).not.toContain("does not list Settlement dates");
  expect(again.output()).toContain("the marketplace does not list Mischief: The stake is below");
  expect(routerOf("whole")).toBe(router);
  const before = await settledUsd(newApi, "whole");
  expect(before).toBeGreaterThan(0);

  process.kill(processOf(again, "settlement/cli/index.ts"), "SIGKILL");
  await again.printed(/daemon +ended \(SIGKILL\) and is started again/);
  process.kill(processOf(again, "marketplace/cli/index.ts"), "SIGKILL");
  await again.printed(/marketplace +ended \(SIGKILL\) and is started again/);
  await expect.poll(() => settledUsd(newApi, "whole").catch(() => 0), PATIENTLY).toBeGreaterThan(before);
  // The key of the first start still buys, at a marketplace that has moved.
  await expect.poll(() => shell(newCurl).catch(() => ""), PATIENTLY).toContain('"max":9');

  const orphans = childrenOf(again.pid);
  again.signal("SIGKILL");
  await again.ended;
  await nothingIsLeft(orphans, [newApi, newMarket, newRpcUrl]);

  // The chain as it was before, and the ledger as it is now: as if the power had failed.
  copyFileSync(join(folder, "older.json"), join(stateOf("whole"), "chain.json"));
  const torn = startOn("whole");
  expect(await torn.ended).toMatchObject({ code: 1 });
  expect(torn.output()).toMatch(/The ledger is newer than the chain: .*npm start -- --reset starts over\./s);
});

it("without the demo nothing accrues, and a second signal ends everything at once", async () => {
  const stack = startOn("quiet", "--no-demo");
  const { api, rpcUrl } = await running(stack);
  const children = childrenOf(stack.pid);
  const { body } = await askOf(api)("GET", "/v1/status", undefined, { key: tokenOf("quiet") });
  expect(body).toMatchObject({ totals: { accruedUsd: "0.00" }, sessions: { open: 0 } });
  // A daemon that does not end by itself: it is stopped, and only SIGKILL reaches it.
  process.kill(processOf(stack, "settlement/cli/index.ts"), "SIGSTOP");
  stack.signal("SIGTERM");
  await stack.printed("Stopping");
  await expect
    .poll(() => {
      stack.signal("SIGTERM");
      return stack.child.exitCode;
    }, PATIENTLY)
    .toBe(130);
  await nothingIsLeft(children, [api, rpcUrl]);
});

it("when the chain dies everything ends with a sentence", async () => {
  const stack = startOn("dead");
  const { api, rpcUrl } = await running(stack);
  const children = childrenOf(stack.pid);
  process.kill(processOf(stack, "--slots-in-an-epoch"), "SIGKILL");
  expect(await stack.ended).toMatchObject({ code: 1 });
  expect(stack.output()).toContain("The local chain ended by itself (SIGKILL): run npm start again.");
  await nothingIsLeft(children, [api, rpcUrl]);
});

it.each([
  [
    "an unknown option",
    ["--prot", "1"],
    "There is no option --prot; did you mean --port?\nnpm start -- --help shows what there is.",
  ],
  ["a port that is none", ["--port", "many"], '--port must be a number from 0 to 65535, and is "many".'],
  ["a word", ["now"], "Unexpected argument 'now'"],
])("%s is named", async (_, args, sentence) => {
  const stack = start(...args);
  expect(await stack.ended).toMatchObject({ code: 2 });
  expect(stack.output()).toContain(sentence);
});

it("a taken port is named with the option for another one", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  const stack = startOn("port", "--port", `${port}`);
  expect(await stack.ended).toMatchObject({ code: 1 });
  server.close();
  expect(stack.output()).toContain(`Port ${port} is taken: name another one with npm start -- --port <n>`);
});

it("a state of another version is refused with the way out, and not touched", async () => {
  mkdirSync(stateOf("old"));
  const contents = JSON.stringify({ version: 0, contracts: "", createdAt: "" });
  writeFileSync(join(stateOf("old"), "state.json"), contents);
  const stack = startOn("old");
  expect(await stack.ended).toMatchObject({ code: 1 });
  expect(stack.output()).toMatch(/is of another version of this program: npm start -- --reset starts over\./);
  expect(readFileSync(join(stateOf("old"), "state.json"), "utf8")).toBe(contents);
});

it.each([
  ["a file", "/etc/passwd", "/etc/passwd is not a folder"],
  ["below a file", "/etc/passwd/state", "is not a folder, or is below something that is none"],
  ["where nothing can be made", "/proc/state", "/proc/state "],
])("a state folder that is %s is refused with a sentence", async (_, path, sentence) => {
  const { code, stderr } = await start("--state", path).ended;
  expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 1, lines: 1 });
  expect(stderr).toContain(sentence);
  expect(stderr).toContain("name another folder with --state");
});

it("a folder with anything else in it is left alone", async () => {
  mkdirSync(stateOf("photos"));
  writeFileSync(join(stateOf("photos"), "beach.jpg"), "");
  const stack = startOn("photos", "--reset");
  expect(await stack.ended).toMatchObject({ code: 1 });
  expect(stack.output()).toContain("holds beach.jpg, which is not of npm start");
  expect(statSync(join(stateOf("photos"), "beach.jpg")).isFile()).toBe(true);
});

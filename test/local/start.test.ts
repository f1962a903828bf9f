import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAlive } from "../../scripts/start/isAlive.ts";
import { askOf } from "./testDaemon.ts";

const POLL = { timeout: 60_000, interval: 100 };
// Which of the node's accounts are developers, and where Base and every local chain have USDC.
const DEVELOPERS = [10, 11, 12, 13, 14];
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

let folder: string;
const started: Stack[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "start-"));
});

afterAll(() => {
  for (const { child } of started) if (child.exitCode === null) child.kill("SIGINT");
  rmSync(folder, { recursive: true, force: true });
});

type Stack = {
  child: ChildProcess;
  output: () => string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

function start(...args: string[]): Stack {
  const child = spawn("node_modules/.bin/node", ["--import", "tsx", "scripts/start/index.ts", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const read = (chunk: Buffer) => {
    text += chunk;
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const ended: Stack["ended"] = new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  const stack = { child, output: () => text, ended };
  started.push(stack);
  return stack;
}

const stateOf = (name: string) => join(folder, name);
const startOn = (name: string, ...args: string[]) =>
  start("--port", "0", "--rpc-port", "0", "--state", stateOf(name), ...args);

async function running(stack: Stack) {
  await expect.poll(stack.output, POLL).toContain("Ctrl-C stops everything");
  const api = /API +(http:\S+)\/docs/.exec(stack.output())?.[1] ?? "";
  const rpcUrl = /chain +(http:\S+) \(/.exec(stack.output())?.[1] ?? "";
  return { api, rpcUrl };
}

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

const tokenOf = (name: string) => readFileSync(join(stateOf(name), "service-token"), "utf8").trim();

const settledUsd = async (api: string, name: string) => {
  const { body } = await askOf(api)("GET", "/v1/status", undefined, { key: tokenOf(name) });
  return Number((body as unknown as { totals: { settledUsd: string } }).totals.settledUsd);
};

const routerOf = (name: string) =>
  JSON.parse(readFileSync(join(stateOf(name), "deployments", "local.json"), "utf8")).contracts.router.address;

// What a stack has started, by the processes that its lock and its children name.
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

async function nothingIsLeft(pids: readonly number[], urls: readonly string[]): Promise<void> {
  await expect.poll(() => pids.filter(isAlive), POLL).toEqual([]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
}

it("one command runs everything until Ctrl-C, and the next one goes on, whatever is killed in between", async () => {
  const first = startOn("whole");
  const { api, rpcUrl } = await running(first);
  const children = childrenOf(first.child.pid ?? 0);
  expect(children.length).toBeGreaterThanOrEqual(3);
  await expect.poll(() => settledUsd(api, "whole"), POLL).toBeGreaterThan(0);
  await expect.poll(() => paidOut(rpcUrl), POLL).toBeGreaterThan(0n);
  await expect
    .poll(first.output, POLL)
    .toMatch(/batch settled +\d+ calls? of \d+ payers?, [\d.]+ USDC, [\d,]+ gas per call/);
  await expect.poll(first.output, POLL).toMatch(/paid out +[A-Z][a-z]+ [A-Z][a-z]+ [\d.]+/);
  // Secrets are their owner's alone, and none is in a log.
  for (const name of ["service-token", "console-token", "keystore-password", "operator.json", "api-keys.json"]) {
    expect(statSync(join(stateOf("whole"), name)).mode & 0o077, name).toBe(0);
  }
  const log = readFileSync(join(stateOf("whole"), "daemon.log"), "utf8");
  expect(log).not.toContain(tokenOf("whole"));
  expect(log).not.toContain("sk_live_");

  const second = startOn("whole");
  expect(await second.ended).toMatchObject({ code: 1 });
  expect(second.output()).toContain(`already, as process ${first.child.pid}`);

  first.child.kill("SIGINT");
  // npm passes the same signal on; together they are one Ctrl-C.
  first.child.kill("SIGINT");
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expect(log).not.toContain("halted");
  await nothingIsLeft(children, [api, rpcUrl]);
  copyFileSync(join(stateOf("whole"), "chain.json"), join(folder, "older.json"));

  const router = routerOf("whole");
  const again = startOn("whole");
  const { api: newApi, rpcUrl: newRpcUrl } = await running(again);
  expect(again.output()).toContain("Going on from");
  expect(routerOf("whole")).toBe(router);
  const before = await settledUsd(newApi, "whole");
  expect(before).toBeGreaterThan(0);

  const daemon = childrenOf(again.child.pid ?? 0).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("settlement/cli/index.ts"),
  );
  process.kill(daemon ?? 0, "SIGKILL");
  await expect.poll(again.output, POLL).toContain("ended (SIGKILL) and is started again");
  await expect.poll(() => settledUsd(newApi, "whole").catch(() => 0), POLL).toBeGreaterThan(before);

  const orphans = childrenOf(again.child.pid ?? 0);
  again.child.kill("SIGKILL");
  await again.ended;
  await nothingIsLeft(orphans, [newApi, newRpcUrl]);

  // The chain as it was before, and the ledger as it is now: as if the power had failed.
  copyFileSync(join(folder, "older.json"), join(stateOf("whole"), "chain.json"));
  const torn = startOn("whole");
  expect(await torn.ended).toMatchObject({ code: 1 });
  expect(torn.output()).toMatch(/The ledger is newer than the chain: .*npm start -- --reset begins anew\./s);
});

it("without the demo nothing accrues, and a second signal ends everything at once", async () => {
  const stack = startOn("quiet", "--no-demo");
  const { api, rpcUrl } = await running(stack);
  const children = childrenOf(stack.child.pid ?? 0);
  const { body } = await askOf(api)("GET", "/v1/status", undefined, { key: tokenOf("quiet") });
  expect(body).toMatchObject({ totals: { accruedUsd: "0.00" }, sessions: { open: 0 } });
  // A daemon that does not end by itself: it is stopped, and only SIGKILL reaches it.
  for (const pid of children) {
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("settlement/cli/index.ts")) process.kill(pid, "SIGSTOP");
  }
  stack.child.kill("SIGTERM");
  await expect.poll(stack.output, POLL).toContain("Stopping");
  await expect
    .poll(() => {
      stack.child.kill("SIGTERM");
      return stack.child.exitCode;
    }, POLL)
    .toBe(130);
  await nothingIsLeft(children, [api, rpcUrl]);
});

it("when the chain dies everything ends with a sentence", async () => {
  const stack = startOn("dead");
  const { api, rpcUrl } = await running(stack);
  const children = childrenOf(stack.child.pid ?? 0);
  const chain = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--slots-in-an-epoch"));
  process.kill(chain ?? 0, "SIGKILL");
  expect(await stack.ended).toMatchObject({ code: 1 });
  expect(stack.output()).toContain("The local chain ended by itself (SIGKILL): run npm start again.");
  await nothingIsLeft(children, [api, rpcUrl]);
});

it.each([
  ["an unknown option", ["--prot", "1"], "Unknown option '--prot'. npm start -- --help shows what there is."],
  ["a port that is none", ["--port", "many"], '--port has to be a number from 0 to 65535, and is "many".'],
  ["a word", ["now"], "Unexpected argument 'now'"],
])("%s is named", async (_, args, sentence) => {
  const stack = start(...args);
  expect(await stack.ended).toMatchObject({ code: 1 });
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
  expect(stack.output()).toMatch(/is of another version of this program: npm start -- --reset begins anew\./);
  expect(readFileSync(join(stateOf("old"), "state.json"), "utf8")).toBe(contents);
});

it("a folder with anything else in it is left alone", async () => {
  mkdirSync(stateOf("photos"));
  writeFileSync(join(stateOf("photos"), "beach.jpg"), "");
  const stack = startOn("photos", "--reset");
  expect(await stack.ended).toMatchObject({ code: 1 });
  expect(stack.output()).toContain("holds beach.jpg, which is not of npm start");
  expect(statSync(join(stateOf("photos"), "beach.jpg")).isFile()).toBe(true);
});

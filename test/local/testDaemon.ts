import { spawn } from "node:child_process";
import { type Config, type Environment, readConfig, secretsOf } from "../../settlement/config.ts";
import { createLogger } from "../../settlement/daemon/createLogger.ts";
import { type RunningDaemon, startDaemon } from "../../settlement/daemon/startDaemon.ts";
import type { Policy } from "../../settlement/engine/context.ts";
import type { LocalChain } from "./localChain.ts";

export const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";

export type Reply = { status: number; body: Record<string, never> & unknown; headers: Headers; text: string };

export type TestDaemon = RunningDaemon & {
  config: Config;
  lines: string[];
  // As the platform, unless another key is given; null is none at all.
  ask(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Reply>;
};

export type AskOptions = { key?: string | null; headers?: Record<string, string> };

export async function environmentOf(chain: LocalChain, ledger: string): Promise<Environment> {
  return {
    SETTLEMENT_CHAIN_ID: `${chain.chainId}`,
    SETTLEMENT_RPC_URLS: chain.url,
    SETTLEMENT_ROUTER: await chain.router.getAddress(),
    SETTLEMENT_LEDGER: ledger,
    SETTLEMENT_SERVICE_TOKEN: SERVICE_TOKEN,
    SETTLEMENT_LISTEN: "127.0.0.1:0",
    SETTLEMENT_HELP_URL: "https://help.example/cap",
    SETTLEMENT_TICK_MS: "100",
    SETTLEMENT_LOG_LEVEL: "debug",
  };
}

// The daemon as production starts it, on a port of its own, with its log in memory.
export async function startTestDaemon(
  chain: LocalChain,
  ledger: string,
  options: { environment?: Environment; policy?: Partial<Policy>; operators?: boolean } = {},
): Promise<TestDaemon> {
  const config: Config = {
    ...readConfig({ ...(await environmentOf(chain, ledger)), ...options.environment }),
    keys:
      options.operators === false
        ? []
        : chain.operators.map(({ privateKey }) => ({ kind: "plain", privateKey }) as const),
  };
  const lines: string[] = [];
  const { log } = createLogger({
    level: config.logLevel,
    secrets: secretsOf(config),
    out: { write: (line) => void lines.push(line) },
  });
  const daemon = await startDaemon(config, { log, policy: { rebroadcastMs: 100, ...options.policy } });
  return { ...daemon, config, lines, ask: askOf(daemon.url) };
}

export function askOf(url: string): TestDaemon["ask"] {
  return async (method, path, body, { key = SERVICE_TOKEN, headers = {} } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers, text };
  };
}

export type Run = { code: number | null; out: string; err: string };

// Runs the operator's command line in a process of its own.
export function settleCommand(args: readonly string[], environment: Environment): Promise<Run> {
  const child = spawnSettle(args, environment);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

export function spawnSettle(args: readonly string[], environment: Environment) {
  const { PATH } = process.env;
  return spawn("node_modules/.bin/node", ["settlement/cli/index.ts", ...args], {
    env: { PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

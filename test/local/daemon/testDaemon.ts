import { type Ask, createClient } from "../../../scripts/client/createClient.ts";
import { type Program, type Run, startProgram } from "../../../scripts/process/startProgram.ts";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import { runSettle } from "../../../settlement/cli/runSettle.ts";
import { type Config, type Environment, readConfig, secretsOf } from "../../../settlement/config.ts";
import { createLogger } from "../../../settlement/daemon/observability/createLogger.ts";
import { type RunningDaemon, startDaemon } from "../../../settlement/daemon/process/startDaemon.ts";
import type { Policy } from "../../../settlement/engine/context.ts";
import { checkAnswers } from "./checkAnswers.ts";

export const SERVICE_TOKEN = "service-token-of-the-tests-0123456789";

export type TestDaemon = RunningDaemon & {
  config: Config;
  lines: string[];
  ask: Ask;
};

export async function environmentOf(world: LocalWorld, ledger: string): Promise<Environment> {
  return {
    SETTLEMENT_CHAIN_ID: `${world.chainId}`,
    SETTLEMENT_RPC_URLS: world.url,
    SETTLEMENT_ROUTER: await world.router.getAddress(),
    SETTLEMENT_LEDGER: ledger,
    SETTLEMENT_SERVICE_TOKEN: SERVICE_TOKEN,
    SETTLEMENT_LISTEN: "127.0.0.1:0",
    SETTLEMENT_HELP_URL: "https://help.example/cap",
    SETTLEMENT_TICK_MS: "100",
    SETTLEMENT_BATCH_SECONDS: "0",
    // Tests deliver in seconds what payers use in days; those of credit set their own.
    SETTLEMENT_CREDIT_USD: "1000000",
    SETTLEMENT_LOG_LEVEL: "debug",
  };
}

// The daemon as production starts it, on a port of its own, with its log in memory. Every answer is compared with the schema
// of its route.
export async function startTestDaemon(
  world: LocalWorld,
  ledger: string,
  options: { environment?: Environment; policy?: Partial<Policy>; operators?: number } = {},
): Promise<TestDaemon> {
  const config: Config = {
    ...readConfig({ ...(await environmentOf(world, ledger)), ...options.environment }),
    // A key belongs to one ledger: so many of the world's are this one's.
    keys: world.operators.slice(0, options.operators).map(({ privateKey }) => ({ kind: "plain", privateKey }) as const),
  };
  const lines: string[] = [];
  const { log } = createLogger({
    level: config.logLevel,
    secrets: secretsOf(config),
    out: { write: (line) => void lines.push(line) },
  });
  const policy = { rebroadcastMs: 100, ...options.policy };
  const daemon = await startDaemon(config, { log, policy, extend: checkAnswers });
  return { ...daemon, config, lines, ask: askOf(daemon.url) };
}

export const askOf = (url: string): Ask => createClient({ url, serviceToken: SERVICE_TOKEN });

// Runs the operator's command line in a process of its own.
export function startSettle(args: readonly string[], environment: Environment): Program {
  const { PATH } = process.env;
  return startProgram("node_modules/.bin/node", ["settlement/cli/index.ts", ...args], {
    env: { PATH, ...environment },
  });
}

export const settleCommand = (args: readonly string[], environment: Environment): Promise<Run> =>
  startSettle(args, environment).ended;

// The same in this process, which takes a tenth of the time. That it is a program is shown by those that start one.
export async function settleInProcess(args: readonly string[], environment: Environment) {
  const { log, error } = console;
  const stdout: string[] = [];
  const stderr: string[] = [];
  console.log = (line: string) => void stdout.push(`${line}\n`);
  console.error = (line: string) => void stderr.push(`${line}\n`);
  try {
    const code = await runSettle(args, environment);
    return { code, stdout: stdout.join(""), stderr: stderr.join("") };
  } finally {
    Object.assign(console, { log, error });
  }
}

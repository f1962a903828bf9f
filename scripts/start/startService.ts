import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { recordPath } from "./deployLocal.ts";
import { tell } from "./report.ts";
import { Interrupted, StartError } from "./StartError.ts";
import { readToken, type StateFolder } from "./stateFolder.ts";

export type Service = {
  url: string;
  // Rejects when it has died too often to be started again.
  failed: Promise<never>;
  // Drains and ends.
  stop(): Promise<void>;
  kill(): void;
};

export type ServiceOptions = {
  paths: StateFolder;
  chainUrl: string;
  port: number;
  signal: AbortSignal;
  onProcess(pid: number): void;
};

const HEALTHY_WITHIN_MS = 60_000;
const POLL_MS = 50;
const DRAIN_MS = 30_000;
const MAX_DEATHS = 5;
const DEATHS_WITHIN_MS = 60_000;
const RESTART_MS = 500;

// The daemon as an operator runs it: its own process, one file of settings. It is started again when it dies, so that
// one can kill it and watch it go on.
export async function startService(options: ServiceOptions): Promise<Service> {
  const { paths, port, signal } = options;
  const url = `http://127.0.0.1:${port}`;
  writeConfig(options);
  let child = run(options);
  let stopping = false;
  let reject: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, refuse) => {
    reject = refuse;
  });
  failed.catch(() => undefined);

  await healthy(url, child, paths.daemonLog, signal);
  void watch();

  async function watch(): Promise<void> {
    const deaths: number[] = [];
    while (!stopping) {
      const { code, signal: cause } = await endOf(child);
      if (stopping) return;
      deaths.push(Date.now());
      const reason = cause ?? `exit code ${code}`;
      if (deaths.filter((atMs) => Date.now() - atMs < DEATHS_WITHIN_MS).length >= MAX_DEATHS) {
        reject(new StartError(`The daemon has ended ${MAX_DEATHS} times (${reason}): look into ${paths.daemonLog}.`));
        return;
      }
      tell("daemon", `ended (${reason}) and is started again`);
      await pause(RESTART_MS);
      if (!stopping) child = run(options);
    }
  }

  return {
    url,
    failed,
    async stop() {
      stopping = true;
      const ended = endOf(child);
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), DRAIN_MS);
      await ended;
      clearTimeout(timer);
    },
    kill() {
      stopping = true;
      child.kill("SIGKILL");
    },
  };
}

function run({ paths, onProcess }: ServiceOptions): ChildProcess {
  const log = openSync(paths.daemonLog, "a");
  const program = join(import.meta.dirname, "..", "..", "settlement", "cli", "index.ts");
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, "daemon"], {
    // Nothing of the settings that may be in this environment belongs here.
    env: {
      PATH,
      HOME,
      SETTLEMENT_CONFIG: paths.config,
      SETTLEMENT_CONSOLE_TOKEN: readToken(paths.consoleToken),
    },
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  child.on("error", () => undefined);
  if (child.pid !== undefined) onProcess(child.pid);
  return child;
}

// Everything happens faster than on Base, for somebody who watches: a batch every few seconds, payouts six times a minute, and
// a payer who cannot pay is given up after about a minute and a half.
function writeConfig({ paths, chainUrl, port }: ServiceOptions): void {
  const config = {
    network: recordPath(paths.deployments),
    rpcUrls: [chainUrl],
    ledger: paths.ledger,
    keystores: [paths.keystore],
    keystorePasswordFile: paths.keystorePassword,
    serviceTokenFile: paths.serviceToken,
    listen: `127.0.0.1:${port}`,
    // There is one daemon on this ledger, so a new one goes on with the lease of the old one at once.
    holder: "npm-start",
    tickMs: 3_000,
    sessionTtlSeconds: 600,
    flushCalls: 10,
    flushUsd: "0.05",
    flushSeconds: 6,
    firstRetrySeconds: 4,
    payoutSeconds: 10,
    payoutUsd: "0.20",
  };
  writeFileSync(paths.config, `${JSON.stringify(config, undefined, 2)}\n`);
}

async function healthy(url: string, child: ChildProcess, log: string, signal: AbortSignal): Promise<void> {
  const untilMs = Date.now() + HEALTHY_WITHIN_MS;
  while (Date.now() < untilMs && !signal.aborted) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (await answers(url)) return;
    await pause(POLL_MS);
  }
  child.kill("SIGKILL");
  if (signal.aborted) throw new Interrupted();
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  throw new StartError(`The daemon did not start: ${lines.at(-1)} More is in ${log}.`);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const { exitCode, signalCode } = child;
  if (exitCode !== null || signalCode !== null) return Promise.resolve({ code: exitCode, signal: signalCode });
  return new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StateFolder } from "../state/stateFolder.ts";
import { recordPath } from "./buildMarketplace.ts";
import { type Service, supervise } from "./supervise.ts";

export type Running = { paths: StateFolder; chainUrl: string; port: number; signal: AbortSignal };

const ROOT = join(import.meta.dirname, "..", "..", "..");

// Everything happens faster than on Base, for somebody who watches: a batch every few seconds, payouts six times a minute, and
// a payer who cannot pay is given up after about a minute and a half.
export function startDaemon(options: Running & { marketplacePort: number }): Promise<Service> {
  const { paths, chainUrl, port, marketplacePort, signal } = options;
  writeSettings(paths.settings, "SETTLEMENT", {
    NETWORK: recordPath(paths.deployments),
    RPC_URLS: chainUrl,
    LEDGER: paths.ledger,
    KEYSTORES: paths.keystore,
    KEYSTORE_PASSWORD_FILE: paths.keystorePassword,
    SERVICE_TOKEN_FILE: paths.serviceToken,
    CONSOLE_TOKEN_FILE: paths.consoleToken,
    HELP_URL: helpUrl(port),
    MARKETPLACE_URL: `http://127.0.0.1:${marketplacePort}`,
    LISTEN: `127.0.0.1:${port}`,
    // There is one daemon on this ledger, so a new one goes on with the lease of the old one at once.
    HOLDER: "npm-start",
    TICK_MS: 3_000,
    SESSION_TTL_SECONDS: 1_200,
    FLUSH_CALLS: 10,
    FLUSH_USD: "0.05",
    FLUSH_SECONDS: 6,
    BATCH_SECONDS: 3,
    FIRST_RETRY_SECONDS: 4,
    PAYOUT_SECONDS: 10,
    PAYOUT_USD: "0.02",
  });
  return supervise({
    name: "daemon",
    program: join(ROOT, "settlement", "cli", "index.ts"),
    command: "daemon",
    settings: paths.settings,
    log: paths.daemonLog,
    url: `http://127.0.0.1:${port}`,
    signal,
  });
}

// What buyers and developers talk to. The tools of this machine are at plain http and private addresses, which a marketplace
// of the world refuses.
export function startMarketplace({ paths, chainUrl, port, signal, daemonPort }: Running & { daemonPort: number }) {
  const url = `http://127.0.0.1:${port}`;
  writeSettings(paths.marketplaceSettings, "MARKETPLACE", {
    NETWORK: recordPath(paths.deployments),
    RPC_URLS: chainUrl,
    DATABASE: paths.marketplaceDatabase,
    LISTEN: `127.0.0.1:${port}`,
    PUBLIC_URL: url,
    SETTLEMENT_URL: `http://127.0.0.1:${daemonPort}`,
    SETTLEMENT_TOKEN_FILE: paths.serviceToken,
    SIGNING_KEYS: paths.signingKeys,
    PRIVATE_ENDPOINTS: "on",
    HELP_URL: helpUrl(daemonPort),
    // Whatever port it has, it knows its own unfinished calls by this name.
    HOLDER: "npm-start",
  });
  return supervise({
    name: "marketplace",
    program: join(ROOT, "marketplace", "cli", "index.ts"),
    command: "serve",
    settings: paths.marketplaceSettings,
    log: paths.marketplaceLog,
    url,
    signal,
  });
}

const helpUrl = (daemonPort: number) => `http://127.0.0.1:${daemonPort}/console#/payers`;

function writeSettings(path: string, prefix: string, settings: Readonly<Record<string, string | number>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${prefix}_${name}="${value}"\n`);
  writeFileSync(path, lines.join(""));
}

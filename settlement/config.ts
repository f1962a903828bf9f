import { hostname } from "node:os";
import { formatGwei, isAddress, isAddressEqual, isHex, parseEther, parseGwei } from "viem";
import { z } from "zod";
import { type DeploymentRecord, readDeployment } from "./deployment.ts";
import { SettlementError } from "./domain/errors.ts";
import type { MicroUsdc } from "./domain/money.ts";
import type { Policy } from "./engine/context.ts";
import { DEFAULT_POLICY } from "./engine/policy.ts";
import type { FlushPolicy } from "./ledger/ledger.ts";
import {
  commaList,
  databaseLocation,
  dollars,
  type Environment,
  holderName,
  type LogLevel,
  listen,
  listenOf,
  logLevel,
  readSettings,
  secret,
  webUrl,
  whole,
  withFiles,
} from "./settings.ts";

export type { Environment, LogLevel } from "./settings.ts";

// The one place that knows the names of the service's environment variables. Whoever starts it passes `process.env` in.
export type KeyConfig =
  | { kind: "keystore"; path: string; password: string }
  // For development: the key itself.
  | { kind: "plain"; privateKey: `0x${string}` };

export type Config = {
  chainId: number;
  rpcUrls: readonly string[];
  router: `0x${string}`;
  // A file, or a postgres:// URL.
  ledger: string;
  // The folder into which old charges go. Null if none do.
  archive: string | null;
  archiveAfterMs: number;
  keys: readonly KeyConfig[];
  // Where the router's logs begin: an audit reads from here.
  fromBlock: bigint;
  // The name of this process, under which it holds leases.
  holder: string;
  listen: { host: string; port: number };
  // Null if it is not set; the daemon does not start without it.
  serviceToken: string | null;
  console: boolean;
  // Null if it is not set; then nobody can log in to the console.
  consoleToken: string | null;
  // The marketplace whose listings the console shows beside what tools have earned.
  marketplaceUrl: string | null;
  // Where a payer reads how to set a spending cap.
  helpUrl: string | null;
  logLevel: LogLevel;
  tickMs: number;
  sessionTtlMs: number;
  // Below this an operator is about to run out of gas.
  minOperatorWei: bigint;
  alertWebhook: { url: string; secret: string } | null;
  // When a session's calls are handed to settlement without waiting for its close.
  flush: FlushPolicy;
  // When a batch is made of what is due.
  batch: Policy["batch"];
  // How much may wait before new turns and calls are refused.
  admission: Policy["admission"];
  // How much may be delivered to a payer and not settled, and how much of a tool's stake is absorbed for it in a day.
  credit: Policy["credit"];
  absorptionBps: number;
  // How long a charge waits after its payer could not pay for the first time; the wait doubles from there.
  firstRetryMs: number;
  payoutEveryMs: number;
  payoutThreshold: MicroUsdc;
  maxFeePerGasCeiling: bigint;
};

const DEVELOPMENT_CHAIN_ID = 31337;
const PREFIX = "SETTLEMENT_";
const DAY_MS = 24 * 60 * 60 * 1_000;

// Defaults of what the engine decides by are the engine's own.
const schema = z.object({
  SETTLEMENT_NETWORK: z.string().optional(),
  SETTLEMENT_CHAIN_ID: z.coerce.number("must be a number, like 8453 for Base").int().positive(),
  SETTLEMENT_RPC_URLS: commaList.pipe(z.array(webUrl("must be http or https URLs"))),
  SETTLEMENT_ROUTER: z.string().refine((text) => isAddress(text), "must be the address of ContextRouter"),
  SETTLEMENT_LEDGER: databaseLocation,
  SETTLEMENT_ARCHIVE: z.string().min(1, "must be a folder").optional(),
  SETTLEMENT_ARCHIVE_DAYS: whole(1, 36_500).default(DEFAULT_POLICY.archive.afterMs / DAY_MS),
  SETTLEMENT_KEYSTORES: commaList.optional(),
  SETTLEMENT_KEYSTORE_PASSWORD: z.string().optional(),
  SETTLEMENT_OPERATOR_KEYS: commaList
    .pipe(z.array(z.string().refine((text) => isHex(text) && text.length === 66, "must be private keys of 32 bytes")))
    .optional(),
  SETTLEMENT_FROM_BLOCK: z.string().regex(/^\d+$/, "must be a block number").default("0"),
  SETTLEMENT_HOLDER: holderName.optional(),
  SETTLEMENT_LISTEN: listen("127.0.0.1:8787").default("127.0.0.1:8787"),
  SETTLEMENT_SERVICE_TOKEN: secret.optional(),
  SETTLEMENT_CONSOLE: z.enum(["on", "off"], 'must be "on" or "off"').default("on"),
  SETTLEMENT_CONSOLE_TOKEN: secret.optional(),
  SETTLEMENT_MARKETPLACE_URL: webUrl("must be the http or https URL of the marketplace").optional(),
  SETTLEMENT_HELP_URL: webUrl("must be an http or https URL").optional(),
  SETTLEMENT_LOG_LEVEL: logLevel.default("info"),
  SETTLEMENT_TICK_MS: whole(50, 60_000).default(1_000),
  SETTLEMENT_SESSION_TTL_SECONDS: whole(1, 604_800).default(DEFAULT_POLICY.sessionTtlMs / 1_000),
  SETTLEMENT_MIN_OPERATOR_ETH: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,18})?$/, "must be a number of ether, like 0.002")
    .default("0.002"),
  SETTLEMENT_ALERT_WEBHOOK_URL: webUrl("must be an http or https URL").optional(),
  SETTLEMENT_ALERT_WEBHOOK_SECRET: secret.optional(),
  SETTLEMENT_FLUSH_CALLS: whole(1, 1_000_000).default(DEFAULT_POLICY.flush.maxCount),
  SETTLEMENT_FLUSH_USD: dollars.default(DEFAULT_POLICY.flush.maxAmount),
  SETTLEMENT_FLUSH_SECONDS: whole(1, 86_400).default(DEFAULT_POLICY.flush.maxAgeMs / 1_000),
  SETTLEMENT_BATCH_CHARGES: whole(1, 1_000_000).default(DEFAULT_POLICY.batch.minCharges),
  SETTLEMENT_BATCH_SECONDS: whole(0, 3_600).default(DEFAULT_POLICY.batch.maxWaitMs / 1_000),
  SETTLEMENT_MAX_BACKLOG_CHARGES: whole(1, 1_000_000_000).default(DEFAULT_POLICY.admission.maxCharges),
  SETTLEMENT_MAX_BACKLOG_SECONDS: whole(1, 3_600).default(DEFAULT_POLICY.admission.maxSeconds),
  SETTLEMENT_MAX_LAG_SECONDS: whole(1, 30).default(DEFAULT_POLICY.admission.maxLagMs / 1_000),
  SETTLEMENT_CREDIT_USD: dollars.default(DEFAULT_POLICY.credit.base),
  SETTLEMENT_CREDIT_GROWTH_BPS: whole(0, 10_000).default(DEFAULT_POLICY.credit.growthBps),
  SETTLEMENT_CREDIT_MAX_USD: dollars.default(DEFAULT_POLICY.credit.max),
  SETTLEMENT_ABSORPTION_BPS: whole(0, 10_000).default(DEFAULT_POLICY.absorptionBps),
  SETTLEMENT_FIRST_RETRY_SECONDS: whole(1, 3_600).default(DEFAULT_POLICY.firstRetryMs / 1_000),
  SETTLEMENT_PAYOUT_SECONDS: whole(1, 31_536_000).default(DEFAULT_POLICY.payoutEveryMs / 1_000),
  SETTLEMENT_PAYOUT_USD: dollars.default(DEFAULT_POLICY.payoutThreshold),
  SETTLEMENT_MAX_FEE_GWEI: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, "must be a number of gwei, like 5")
    .default(formatGwei(DEFAULT_POLICY.maxFeePerGasCeiling)),
});

const IN_FILES: readonly string[] = [
  "SETTLEMENT_RPC_URLS",
  "SETTLEMENT_LEDGER",
  "SETTLEMENT_KEYSTORE_PASSWORD",
  "SETTLEMENT_SERVICE_TOKEN",
  "SETTLEMENT_CONSOLE_TOKEN",
  "SETTLEMENT_ALERT_WEBHOOK_URL",
  "SETTLEMENT_ALERT_WEBHOOK_SECRET",
] satisfies (keyof typeof schema.shape)[];

export function readConfig(environment: Environment): Config {
  let record: DeploymentRecord | null = null;
  const values = readSettings(environment, {
    schema,
    prefix: PREFIX,
    inFiles: IN_FILES,
    defaultsOf: ({ SETTLEMENT_NETWORK: network }) => {
      record = network === undefined ? null : deploymentOf(network);
      return networkValues(record);
    },
    hintOf: (name) =>
      name === "SETTLEMENT_CHAIN_ID" || name === "SETTLEMENT_ROUTER"
        ? ", and so is SETTLEMENT_NETWORK, which would name it"
        : "",
  });
  if (record !== null) refuseContradictions(values, record);
  refuseSharedToken(values);
  const listen = listenOf("SETTLEMENT_LISTEN", values.SETTLEMENT_LISTEN);
  return {
    chainId: values.SETTLEMENT_CHAIN_ID,
    rpcUrls: values.SETTLEMENT_RPC_URLS,
    router: values.SETTLEMENT_ROUTER as `0x${string}`,
    ledger: values.SETTLEMENT_LEDGER,
    archive: values.SETTLEMENT_ARCHIVE ?? null,
    archiveAfterMs: values.SETTLEMENT_ARCHIVE_DAYS * DAY_MS,
    keys: [...keystoresOf(values), ...plainKeysOf(values)],
    fromBlock: BigInt(values.SETTLEMENT_FROM_BLOCK),
    // No two processes of a machine listen on one port, and one that comes back continues its own lease.
    holder: values.SETTLEMENT_HOLDER ?? `${hostname()}:${listen.port === 0 ? `process-${process.pid}` : listen.port}`,
    listen,
    serviceToken: values.SETTLEMENT_SERVICE_TOKEN ?? null,
    console: values.SETTLEMENT_CONSOLE === "on",
    consoleToken: values.SETTLEMENT_CONSOLE_TOKEN ?? null,
    marketplaceUrl: values.SETTLEMENT_MARKETPLACE_URL ?? null,
    helpUrl: values.SETTLEMENT_HELP_URL ?? null,
    logLevel: values.SETTLEMENT_LOG_LEVEL,
    tickMs: values.SETTLEMENT_TICK_MS,
    sessionTtlMs: values.SETTLEMENT_SESSION_TTL_SECONDS * 1_000,
    minOperatorWei: parseEther(values.SETTLEMENT_MIN_OPERATOR_ETH),
    alertWebhook: webhookOf(values),
    flush: {
      maxCount: values.SETTLEMENT_FLUSH_CALLS,
      maxAmount: values.SETTLEMENT_FLUSH_USD,
      maxAgeMs: values.SETTLEMENT_FLUSH_SECONDS * 1_000,
    },
    batch: {
      minCharges: values.SETTLEMENT_BATCH_CHARGES,
      maxWaitMs: values.SETTLEMENT_BATCH_SECONDS * 1_000,
    },
    admission: {
      maxCharges: values.SETTLEMENT_MAX_BACKLOG_CHARGES,
      maxSeconds: values.SETTLEMENT_MAX_BACKLOG_SECONDS,
      maxLagMs: values.SETTLEMENT_MAX_LAG_SECONDS * 1_000,
    },
    credit: {
      base: values.SETTLEMENT_CREDIT_USD,
      growthBps: values.SETTLEMENT_CREDIT_GROWTH_BPS,
      max: values.SETTLEMENT_CREDIT_MAX_USD,
    },
    absorptionBps: values.SETTLEMENT_ABSORPTION_BPS,
    firstRetryMs: values.SETTLEMENT_FIRST_RETRY_SECONDS * 1_000,
    payoutEveryMs: values.SETTLEMENT_PAYOUT_SECONDS * 1_000,
    payoutThreshold: values.SETTLEMENT_PAYOUT_USD,
    maxFeePerGasCeiling: parseGwei(values.SETTLEMENT_MAX_FEE_GWEI),
  };
}

// For making a keystore, which comes before there is anything else to configure.
export function readKeystorePassword(environment: Environment): string {
  const name = "SETTLEMENT_KEYSTORE_PASSWORD";
  const password = withFiles(environment, IN_FILES)[name];
  if (password === undefined) {
    throw new SettlementError("invalid_config", `${name} is missing, and so is ${name}_FILE`);
  }
  return password;
}

// What the configuration says about the engine's policy; the rest is as in policy.ts.
export function policyOf(config: Config): Partial<Policy> {
  const { sessionTtlMs, flush, batch, admission, credit, absorptionBps, firstRetryMs, maxFeePerGasCeiling } = config;
  const { payoutEveryMs, payoutThreshold } = config;
  const engine = { sessionTtlMs, flush, batch, admission, credit, absorptionBps, firstRetryMs, maxFeePerGasCeiling };
  const archive = { ...DEFAULT_POLICY.archive, afterMs: config.archiveAfterMs };
  return { ...engine, payoutEveryMs, payoutThreshold, archive };
}

// Everything in a configuration that must never be shown, for the filter in front of the logs.
export function secretsOf(config: Config): string[] {
  const { serviceToken, consoleToken, alertWebhook } = config;
  const secrets = [serviceToken, consoleToken, alertWebhook?.secret, alertWebhook?.url, ...config.rpcUrls];
  for (const key of config.keys) secrets.push(key.kind === "plain" ? key.privateKey : key.password);
  if (URL.parse(config.ledger)?.password) secrets.push(config.ledger, URL.parse(config.ledger)?.password);
  // A development endpoint without a path holds no key, and its address helps whoever reads the log.
  return secrets.filter(
    (value): value is string => !!value && !/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?\/?$/.test(value),
  );
}

type Values = z.infer<typeof schema>;

// Says with the error which setting named the record, and what stands in for one.
function deploymentOf(network: string): DeploymentRecord {
  try {
    return readDeployment(network);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SettlementError(
      "invalid_config",
      `SETTLEMENT_NETWORK is ${network}, and ${why}, or set SETTLEMENT_CHAIN_ID and SETTLEMENT_ROUTER instead`,
      { cause },
    );
  }
}

// Who may look at the console could otherwise report turns.
function refuseSharedToken({ SETTLEMENT_SERVICE_TOKEN: service, SETTLEMENT_CONSOLE_TOKEN: console }: Values): void {
  if (service === undefined || service !== console) return;
  throw new SettlementError(
    "invalid_config",
    "SETTLEMENT_CONSOLE_TOKEN is the same as SETTLEMENT_SERVICE_TOKEN; openssl rand -hex 32 makes another one",
  );
}

// What a deployment's record says stands behind what is set explicitly.
function networkValues(record: DeploymentRecord | null): Environment {
  if (record === null) return {};
  const { address, block } = record.contracts.router;
  return {
    SETTLEMENT_CHAIN_ID: `${record.chainId}`,
    SETTLEMENT_ROUTER: address,
    SETTLEMENT_FROM_BLOCK: `${block}`,
  };
}

function refuseContradictions(values: Values, { network, chainId, contracts }: DeploymentRecord): void {
  const differs = (name: string, own: string | number, recorded: string | number) =>
    new SettlementError(
      "invalid_config",
      `${name} is ${own}, and SETTLEMENT_NETWORK names the deployment on ${network}, where it is ${recorded}; take one of them out`,
    );
  const { SETTLEMENT_CHAIN_ID: ownChainId, SETTLEMENT_ROUTER: router } = values;
  if (ownChainId !== chainId) throw differs("SETTLEMENT_CHAIN_ID", ownChainId, chainId);
  const recorded = contracts.router.address;
  if (!isAddressEqual(router as `0x${string}`, recorded as `0x${string}`)) {
    throw differs("SETTLEMENT_ROUTER", router, recorded);
  }
}

function webhookOf(values: Values): Config["alertWebhook"] {
  const { SETTLEMENT_ALERT_WEBHOOK_URL: url, SETTLEMENT_ALERT_WEBHOOK_SECRET: key } = values;
  if (url === undefined) return null;
  if (key === undefined) {
    throw new SettlementError(
      "invalid_config",
      "SETTLEMENT_ALERT_WEBHOOK_SECRET is missing; alerts are signed with it",
    );
  }
  return { url, secret: key };
}

function keystoresOf({
  SETTLEMENT_KEYSTORES: paths = [],
  SETTLEMENT_KEYSTORE_PASSWORD: password,
}: Values): KeyConfig[] {
  if (paths.length === 0) return [];
  if (password === undefined) {
    throw new SettlementError("invalid_config", "SETTLEMENT_KEYSTORE_PASSWORD is missing; the keystores need it");
  }
  return paths.map((path) => ({ kind: "keystore", path, password }));
}

function plainKeysOf({ SETTLEMENT_OPERATOR_KEYS: keys = [], SETTLEMENT_CHAIN_ID: chainId }: Values): KeyConfig[] {
  // A key in the environment is visible to too many on a machine that handles other people's money.
  if (keys.length > 0 && chainId !== DEVELOPMENT_CHAIN_ID) {
    throw new SettlementError(
      "invalid_config",
      `SETTLEMENT_OPERATOR_KEYS is for chain ${DEVELOPMENT_CHAIN_ID} only; put the key into a keystore and name it in SETTLEMENT_KEYSTORES`,
    );
  }
  return keys.map((privateKey) => ({ kind: "plain", privateKey: privateKey as `0x${string}` }));
}

import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isAddress, isAddressEqual, isHex, parseEther, parseGwei } from "viem";
import { z } from "zod";
import { type DeploymentRecord, readDeployment } from "./deployment.ts";
import { SettlementError } from "./domain/errors.ts";
import { type MicroUsdc, microUsdc, parseUsd } from "./domain/money.ts";
import type { Policy } from "./engine/context.ts";
import type { FlushPolicy } from "./ledger/ledger.ts";

// The one place that knows the names of environment variables. Whoever starts the service passes `process.env` in.
export type Environment = Readonly<Record<string, string | undefined>>;

export type KeyConfig =
  | { kind: "keystore"; path: string; password: string }
  // For development: the key itself.
  | { kind: "plain"; privateKey: `0x${string}` };

export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = {
  chainId: number;
  rpcUrls: readonly string[];
  router: `0x${string}`;
  // A file, or a postgres:// URL.
  ledger: string;
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
  // Where a payer reads how to set a spending cap.
  helpUrl: string | null;
  logLevel: LogLevel;
  tickMs: number;
  sessionTtlMs: number;
  // How many requests an API key may make per second.
  rateLimitPerSecond: number;
  // Below this an operator is about to run out of gas.
  minOperatorWei: bigint;
  alertWebhook: { url: string; secret: string } | null;
  // When a session's calls are handed to settlement without waiting for its close.
  flush: FlushPolicy;
  // How long a charge waits after its payer could not pay for the first time; the wait doubles from there.
  firstRetryMs: number;
  payoutEveryMs: number;
  payoutThreshold: MicroUsdc;
  maxFeePerGasCeiling: bigint;
};

const DEVELOPMENT_CHAIN_ID = 31337;
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const DEFAULT_FILE = "settlement.json";
const PREFIX = "SETTLEMENT_";
// 32 characters of chance are more than anybody can guess.
const MIN_SECRET_LENGTH = 32;

const commaList = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .pipe(z.array(z.string().min(1, "has an empty entry")).min(1));

const whole = (min: number, max: number) => {
  const message = `has to be a whole number from ${min} to ${max}`;
  return z.coerce.number(message).int(message).min(min, message).max(max, message);
};

const dollars = z.string().transform((text, context) => {
  try {
    const amount = parseUsd(text);
    if (amount > 0n) return amount;
  } catch {
    // Whatever is wrong with it, an example says what is right.
  }
  context.addIssue("has to be dollars above zero, like 0.50");
  return microUsdc(0n);
});

const webUrl = (message: string) => z.url({ protocol: /^https?$/, error: message });
const secret = z
  .string()
  .min(MIN_SECRET_LENGTH, `has to have ${MIN_SECRET_LENGTH} characters or more; openssl rand -hex 32 makes one`);

const schema = z.object({
  SETTLEMENT_NETWORK: z.string().optional(),
  SETTLEMENT_CHAIN_ID: z.coerce.number("has to be a number, like 8453 for Base").int().positive(),
  SETTLEMENT_RPC_URLS: commaList.pipe(z.array(webUrl("has to be http or https URLs"))),
  SETTLEMENT_ROUTER: z.string().refine((text) => isAddress(text), "has to be the address of ContextRouter"),
  SETTLEMENT_LEDGER: z.string().min(1, "has to be a file or a postgres:// URL"),
  SETTLEMENT_KEYSTORES: commaList.optional(),
  SETTLEMENT_KEYSTORE_PASSWORD: z.string().optional(),
  SETTLEMENT_OPERATOR_KEYS: commaList
    .pipe(z.array(z.string().refine((text) => isHex(text) && text.length === 66, "has to be private keys of 32 bytes")))
    .optional(),
  SETTLEMENT_FROM_BLOCK: z.string().regex(/^\d+$/, "has to be a block number").default("0"),
  SETTLEMENT_HOLDER: z.string().min(1).max(200).optional(),
  SETTLEMENT_LISTEN: z
    .string()
    .regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, "has to be host:port, like 127.0.0.1:8787")
    .default("127.0.0.1:8787"),
  SETTLEMENT_SERVICE_TOKEN: secret.optional(),
  SETTLEMENT_CONSOLE: z.enum(["on", "off"], 'has to be "on" or "off"').default("on"),
  SETTLEMENT_CONSOLE_TOKEN: secret.optional(),
  SETTLEMENT_HELP_URL: webUrl("has to be an http or https URL").optional(),
  SETTLEMENT_LOG_LEVEL: z.enum(LOG_LEVELS, `has to be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  SETTLEMENT_TICK_MS: whole(50, 60_000).default(1_000),
  SETTLEMENT_SESSION_TTL_SECONDS: whole(1, 604_800).default(3_600),
  SETTLEMENT_RATE_LIMIT_PER_SECOND: whole(1, 100_000).default(50),
  SETTLEMENT_MIN_OPERATOR_ETH: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,18})?$/, "has to be a number of ether, like 0.002")
    .default("0.002"),
  SETTLEMENT_ALERT_WEBHOOK_URL: webUrl("has to be an http or https URL").optional(),
  SETTLEMENT_ALERT_WEBHOOK_SECRET: secret.optional(),
  SETTLEMENT_FLUSH_CALLS: whole(1, 1_000_000).default(100),
  SETTLEMENT_FLUSH_USD: dollars.prefault("1"),
  SETTLEMENT_FLUSH_SECONDS: whole(1, 86_400).default(300),
  SETTLEMENT_FIRST_RETRY_SECONDS: whole(1, 3_600).default(120),
  SETTLEMENT_PAYOUT_SECONDS: whole(1, 31_536_000).default(86_400),
  SETTLEMENT_PAYOUT_USD: dollars.prefault("10"),
  SETTLEMENT_MAX_FEE_GWEI: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, "has to be a number of gwei, like 5")
    .default("5"),
});

// What may stand in a file of its own, whose path is in the variable with _FILE at its end: systemd and others hand
// secrets over as files, which no other process can read and no list of processes shows.
const IN_FILES: readonly string[] = [
  "SETTLEMENT_RPC_URLS",
  "SETTLEMENT_LEDGER",
  "SETTLEMENT_KEYSTORE_PASSWORD",
  "SETTLEMENT_SERVICE_TOKEN",
  "SETTLEMENT_CONSOLE_TOKEN",
  "SETTLEMENT_ALERT_WEBHOOK_URL",
  "SETTLEMENT_ALERT_WEBHOOK_SECRET",
] satisfies (keyof typeof schema.shape)[];

// Reads the configuration from the environment and from the file that SETTLEMENT_CONFIG names, or settlement.json if that
// exists. What is in both is taken from the environment.
export function readConfig(environment: Environment): Config {
  const own = withSecrets({ ...fileValues(environment), ...definedOf(environment) });
  const record = own.SETTLEMENT_NETWORK === undefined ? null : readDeployment(own.SETTLEMENT_NETWORK);
  const given: Environment = { ...networkValues(record), ...own };
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => describeIssue(issue, given));
    throw new SettlementError("invalid_config", problems.join("; "));
  }
  const values = parsed.data;
  if (record !== null) refuseContradictions(values, record);
  const listen = listenOf(values.SETTLEMENT_LISTEN);
  return {
    chainId: values.SETTLEMENT_CHAIN_ID,
    rpcUrls: values.SETTLEMENT_RPC_URLS,
    router: values.SETTLEMENT_ROUTER as `0x${string}`,
    ledger: values.SETTLEMENT_LEDGER,
    keys: [...keystoresOf(values), ...plainKeysOf(values)],
    fromBlock: BigInt(values.SETTLEMENT_FROM_BLOCK),
    // No two processes of a machine listen on one port, and one that comes back continues its own lease.
    holder: values.SETTLEMENT_HOLDER ?? `${hostname()}:${listen.port === 0 ? `process-${process.pid}` : listen.port}`,
    listen,
    serviceToken: values.SETTLEMENT_SERVICE_TOKEN ?? null,
    console: values.SETTLEMENT_CONSOLE === "on",
    consoleToken: values.SETTLEMENT_CONSOLE_TOKEN ?? null,
    helpUrl: values.SETTLEMENT_HELP_URL ?? null,
    logLevel: values.SETTLEMENT_LOG_LEVEL,
    tickMs: values.SETTLEMENT_TICK_MS,
    sessionTtlMs: values.SETTLEMENT_SESSION_TTL_SECONDS * 1_000,
    rateLimitPerSecond: values.SETTLEMENT_RATE_LIMIT_PER_SECOND,
    minOperatorWei: parseEther(values.SETTLEMENT_MIN_OPERATOR_ETH),
    alertWebhook: webhookOf(values),
    flush: {
      maxCount: values.SETTLEMENT_FLUSH_CALLS,
      maxAmount: values.SETTLEMENT_FLUSH_USD,
      maxAgeMs: values.SETTLEMENT_FLUSH_SECONDS * 1_000,
    },
    firstRetryMs: values.SETTLEMENT_FIRST_RETRY_SECONDS * 1_000,
    payoutEveryMs: values.SETTLEMENT_PAYOUT_SECONDS * 1_000,
    payoutThreshold: values.SETTLEMENT_PAYOUT_USD,
    maxFeePerGasCeiling: parseGwei(values.SETTLEMENT_MAX_FEE_GWEI),
  };
}

// For making a keystore, which comes before there is anything else to configure.
export function readKeystorePassword(environment: Environment): string {
  const name = "SETTLEMENT_KEYSTORE_PASSWORD";
  const password = withSecrets({ ...definedOf(environment) })[name];
  if (password === undefined) {
    throw new SettlementError("invalid_config", `${name} is missing, and so is ${name}_FILE`);
  }
  return password;
}

// What the configuration says about the engine's policy; the rest is as in policy.ts.
export function policyOf(config: Config): Partial<Policy> {
  const { sessionTtlMs, flush, firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling } = config;
  return { sessionTtlMs, flush, firstRetryMs, payoutEveryMs, payoutThreshold, maxFeePerGasCeiling };
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

// A variable that is set to nothing is as good as not set.
function definedOf(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
}

// Puts the contents of files in the place of their names. A line break at the end belongs to the file and not to the secret.
function withSecrets(given: Environment): Environment {
  const values: Record<string, string | undefined> = { ...given };
  for (const name of IN_FILES) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    if (given[name] !== undefined) {
      throw new SettlementError("invalid_config", `${name} and ${name}_FILE are both set; keep one of them`);
    }
    try {
      values[name] = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    } catch (cause) {
      const reason = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
      throw new SettlementError("invalid_config", `${name}_FILE: ${path} cannot be read${reason}`, { cause });
    }
    if (values[name] === "") throw new SettlementError("invalid_config", `${name}_FILE: ${path} is empty`);
  }
  return values;
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

// The file has the same names without the prefix and in camel case: `rpcUrls` is SETTLEMENT_RPC_URLS.
function fileValues(environment: Environment): Record<string, string> {
  const named = environment.SETTLEMENT_CONFIG;
  const path = named ?? DEFAULT_FILE;
  if (named === undefined && !existsSync(path)) return {};
  let contents: unknown;
  try {
    contents = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new SettlementError("invalid_config", `SETTLEMENT_CONFIG: ${path} cannot be read as JSON`, { cause });
  }
  if (typeof contents !== "object" || contents === null || Array.isArray(contents)) {
    throw new SettlementError("invalid_config", `SETTLEMENT_CONFIG: ${path} has to hold one object`);
  }
  return Object.fromEntries(
    Object.entries(contents).map(([key, value]) => [nameOf(path, key), textOf(path, key, value)]),
  );
}

function nameOf(path: string, key: string): string {
  const name = PREFIX + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const known = name in schema.shape || IN_FILES.includes(name.replace(/_FILE$/, ""));
  if (!known) throw new SettlementError("invalid_config", `${path} has "${key}", which is no setting`);
  return name;
}

function textOf(path: string, key: string, value: unknown): string {
  const parts = Array.isArray(value) ? value : [value];
  if (parts.every((part) => typeof part === "string" || typeof part === "number")) return parts.join(",");
  throw new SettlementError("invalid_config", `${path} has a "${key}" that is no text, number or list of texts`);
}

function listenOf(text: string): Config["listen"] {
  const separator = text.lastIndexOf(":");
  const port = Number(text.slice(separator + 1));
  if (port > 65_535) throw new SettlementError("invalid_config", "SETTLEMENT_LISTEN has a port above 65535");
  return { host: text.slice(0, separator).replace(/^\[|\]$/g, ""), port };
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

// Names the variable and never shows its value, which may be a secret.
function describeIssue(issue: z.core.$ZodIssue, given: Environment): string {
  const name = String(issue.path[0]);
  if (given[name] !== undefined) return `${name} ${issue.message}`;
  const fromNetwork = name === "SETTLEMENT_CHAIN_ID" || name === "SETTLEMENT_ROUTER";
  return `${name} is missing${fromNetwork ? ", and so is SETTLEMENT_NETWORK, which would name it" : ""}`;
}

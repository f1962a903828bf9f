import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import ipaddr from "ipaddr.js";
import { type Address, isAddress } from "viem";
import { z } from "zod";
import { readDeployment } from "../settlement/deployment.ts";
import { SettlementError } from "../settlement/domain/errors.ts";
import { type MicroUsdc, microUsdc } from "../settlement/domain/money.ts";
import {
  commaList,
  databaseLocation,
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
} from "../settlement/settings.ts";
import { type Models, readModels } from "./query/models/readModels.ts";

// `packages` is a folder of Pyodide's distribution with packages that npm has not got.
export type InterpreterConfig = { backend: "pyodide" | "bubblewrap"; packages: string | null };

export type MarketConfig = {
  chainId: number;
  rpcUrls: readonly string[];
  router: Address;
  // A file, or a postgres:// URL.
  database: string;
  // The name of this process, under which it claims calls.
  holder: string;
  listen: { host: string; port: number };
  // What clients are told as the marketplace's address, without a slash at its end. People sign in to its host.
  publicUrl: string;
  // The settlement daemon and the token of its platform's routes.
  settlement: { url: string; token: string };
  // The file of the keys with which requests to tools are signed, and the name under which they are.
  signingKeys: string;
  issuer: string;
  // Where buyers read what to do about a cap, a balance or a wallet.
  helpUrl: string;
  // Who answers questions; nobody but the built-in planner if there are none.
  models: Models;
  // Where models run their Python; null for nowhere.
  interpreter: InterpreterConfig | null;
  logLevel: LogLevel;
  sessionTtlMs: number;
  rateLimitPerSecond: number;
  // How many listings of usual length are searched.
  searchPlaces: number;
  // How much is kept for one account of calls' answers, and as much of what the tools of its questions have said.
  maxKeptBytes: number;
  // As much of calls' answers for one that never paid for anything, and for all accounts together.
  maxFreeKeptBytes: number;
  maxTotalKeptBytes: number;
  // How many Idempotency-Keys of calls that cost nothing one account may use in a day.
  maxFreeKeysPerDay: number;
  // How many of those there may be of all accounts before whoever never paid may use no more.
  maxTotalFreeKeys: number;
  // How many accounts there may be that never paid before only those sign up that could.
  maxFreeAccounts: number;
  // What models may cost a day for questions of one account that nobody pays for.
  maxUnpaid: MicroUsdc;
  // How long an Idempotency-Key is known after what was asked under it has ended.
  keysKeptMs: number;
  // What metrics are read with; null: by nobody.
  metricsToken: string | null;
  trustedProxies: string[];
  // Whether tools may be at plain http and private addresses: for development alone.
  privateEndpoints: boolean;
};

// In millionths of a dollar.
const CENT = 10_000n;
const PREFIX = "MARKETPLACE_";

const isAddressOrRange = (text: string) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);

// The one place that knows the names of the marketplace's environment variables.
const schema = z.object({
  MARKETPLACE_NETWORK: z.string().optional(),
  MARKETPLACE_CHAIN_ID: z.coerce.number("must be a number, like 8453 for Base").int().positive(),
  MARKETPLACE_RPC_URLS: commaList.pipe(z.array(webUrl("must be http or https URLs"))),
  MARKETPLACE_ROUTER: z.string().refine((text) => isAddress(text), "must be the address of ContextRouter"),
  MARKETPLACE_DATABASE: databaseLocation,
  MARKETPLACE_LISTEN: listen("127.0.0.1:8788").default("127.0.0.1:8788"),
  MARKETPLACE_PUBLIC_URL: webUrl("must be an http or https URL"),
  MARKETPLACE_SETTLEMENT_URL: webUrl("must be the http or https URL of the settlement daemon"),
  MARKETPLACE_SETTLEMENT_TOKEN: secret,
  MARKETPLACE_SIGNING_KEYS: z.string().min(1, "must be a file"),
  MARKETPLACE_ISSUER: webUrl("must be an http or https URL").optional(),
  MARKETPLACE_HELP_URL: webUrl("must be an http or https URL").optional(),
  MARKETPLACE_MODELS: z.string().min(1, "must be a file").optional(),
  MARKETPLACE_INTERPRETER: z
    .enum(["pyodide", "bubblewrap", "off"], 'must be "pyodide", "bubblewrap" or "off"')
    .default("pyodide"),
  MARKETPLACE_INTERPRETER_PACKAGES: z.string().min(1, "must be a folder").optional(),
  MARKETPLACE_SESSION_TTL_SECONDS: whole(60, 604_800).default(1_200),
  MARKETPLACE_RATE_LIMIT_PER_SECOND: whole(1, 100_000).default(50),
  MARKETPLACE_SEARCH_PLACES: whole(100, 1_000_000).default(10_000),
  MARKETPLACE_KEPT_MEGABYTES: whole(1, 1_000_000).default(256),
  MARKETPLACE_FREE_KEPT_MEGABYTES: whole(1, 1_000_000).default(8),
  MARKETPLACE_TOTAL_KEPT_MEGABYTES: whole(1, 100_000_000).default(8_192),
  MARKETPLACE_FREE_KEYS_PER_DAY: whole(1, 100_000_000).default(10_000),
  MARKETPLACE_TOTAL_FREE_KEYS: whole(1, 10_000_000_000).default(10_000_000),
  MARKETPLACE_TOTAL_FREE_ACCOUNTS: whole(1, 1_000_000_000).default(200_000),
  MARKETPLACE_UNPAID_MODEL_CENTS: whole(1, 1_000_000).default(100),
  // Never shorter than answers are kept.
  MARKETPLACE_KEY_DAYS: whole(7, 3_650).default(30),
  MARKETPLACE_METRICS_TOKEN: secret.optional(),
  MARKETPLACE_TRUSTED_PROXIES: commaList
    .refine((proxies) => proxies.every(isAddressOrRange), "must be addresses or ranges, like 127.0.0.1,10.0.0.0/8")
    .optional(),
  MARKETPLACE_PRIVATE_ENDPOINTS: z.enum(["on", "off"], 'must be "on" or "off"').default("off"),
  MARKETPLACE_HOLDER: holderName.optional(),
  MARKETPLACE_LOG_LEVEL: logLevel.default("info"),
});

const IN_FILES: readonly string[] = [
  "MARKETPLACE_RPC_URLS",
  "MARKETPLACE_DATABASE",
  "MARKETPLACE_SETTLEMENT_TOKEN",
  "MARKETPLACE_METRICS_TOKEN",
] satisfies (keyof typeof schema.shape)[];

export function readMarketConfig(environment: Environment): MarketConfig {
  const values = readSettings(environment, {
    schema,
    prefix: PREFIX,
    inFiles: IN_FILES,
    defaultsOf: ({ MARKETPLACE_NETWORK: network }) => networkValues(network),
    hintOf: (name) =>
      name === "MARKETPLACE_CHAIN_ID" || name === "MARKETPLACE_ROUTER"
        ? ", and so is MARKETPLACE_NETWORK, which would name it"
        : "",
  });
  const listen = listenOf("MARKETPLACE_LISTEN", values.MARKETPLACE_LISTEN);
  const publicUrl = withoutSlash(values.MARKETPLACE_PUBLIC_URL);
  return {
    chainId: values.MARKETPLACE_CHAIN_ID,
    rpcUrls: values.MARKETPLACE_RPC_URLS,
    router: values.MARKETPLACE_ROUTER as Address,
    database: values.MARKETPLACE_DATABASE,
    // No two processes of a machine listen on one port, and one that comes back knows its own unfinished calls by it.
    holder: values.MARKETPLACE_HOLDER ?? `${hostname()}:${listen.port === 0 ? `process-${process.pid}` : listen.port}`,
    listen,
    publicUrl,
    settlement: { url: withoutSlash(values.MARKETPLACE_SETTLEMENT_URL), token: values.MARKETPLACE_SETTLEMENT_TOKEN },
    signingKeys: values.MARKETPLACE_SIGNING_KEYS,
    issuer: values.MARKETPLACE_ISSUER ?? publicUrl,
    helpUrl: values.MARKETPLACE_HELP_URL ?? `${publicUrl}/help`,
    models: values.MARKETPLACE_MODELS === undefined ? [] : readModels(values.MARKETPLACE_MODELS),
    interpreter: interpreterOf(values.MARKETPLACE_INTERPRETER, values.MARKETPLACE_INTERPRETER_PACKAGES),
    logLevel: values.MARKETPLACE_LOG_LEVEL,
    sessionTtlMs: values.MARKETPLACE_SESSION_TTL_SECONDS * 1_000,
    rateLimitPerSecond: values.MARKETPLACE_RATE_LIMIT_PER_SECOND,
    searchPlaces: values.MARKETPLACE_SEARCH_PLACES,
    maxKeptBytes: values.MARKETPLACE_KEPT_MEGABYTES * 1_000_000,
    maxFreeKeptBytes: values.MARKETPLACE_FREE_KEPT_MEGABYTES * 1_000_000,
    maxTotalKeptBytes: values.MARKETPLACE_TOTAL_KEPT_MEGABYTES * 1_000_000,
    maxFreeKeysPerDay: values.MARKETPLACE_FREE_KEYS_PER_DAY,
    maxTotalFreeKeys: values.MARKETPLACE_TOTAL_FREE_KEYS,
    maxFreeAccounts: values.MARKETPLACE_TOTAL_FREE_ACCOUNTS,
    maxUnpaid: microUsdc(BigInt(values.MARKETPLACE_UNPAID_MODEL_CENTS) * CENT),
    keysKeptMs: values.MARKETPLACE_KEY_DAYS * 24 * 60 * 60 * 1_000,
    metricsToken: values.MARKETPLACE_METRICS_TOKEN ?? null,
    trustedProxies: values.MARKETPLACE_TRUSTED_PROXIES ?? [],
    privateEndpoints: values.MARKETPLACE_PRIVATE_ENDPOINTS === "on",
  };
}

// Everything in a configuration that must never be shown, for the filter in front of the logs.
export function secretsOf({ settlement, database, rpcUrls, models, metricsToken }: MarketConfig): string[] {
  const password = URL.parse(database)?.password;
  const secrets = [
    settlement.token,
    ...rpcUrls,
    ...(password ? [database, password] : []),
    ...models.flatMap(({ key }) => key ?? []),
    ...(metricsToken === null ? [] : [metricsToken]),
  ];
  // A development endpoint without a path holds no key, and its address helps whoever reads the log.
  return secrets.filter((value) => !/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?\/?$/.test(value));
}

function interpreterOf(
  backend: InterpreterConfig["backend"] | "off",
  folder: string | undefined,
): InterpreterConfig | null {
  if (backend === "off") return null;
  const packages = folder === undefined ? null : resolve(folder);
  if (packages !== null && !existsSync(join(packages, "pyodide-lock.json"))) {
    throw new SettlementError(
      "invalid_config",
      `MARKETPLACE_INTERPRETER_PACKAGES is ${folder}, where there is no pyodide-lock.json; name a folder of Pyodide's distribution`,
    );
  }
  return { backend, packages };
}

const withoutSlash = (url: string) => url.replace(/\/$/, "");

// What a deployment's record says stands behind what is set explicitly.
function networkValues(network: string | undefined): Environment {
  if (network === undefined) return {};
  try {
    const { chainId, contracts } = readDeployment(network);
    return { MARKETPLACE_CHAIN_ID: `${chainId}`, MARKETPLACE_ROUTER: contracts.router.address };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SettlementError(
      "invalid_config",
      `MARKETPLACE_NETWORK is ${network}, and ${why}, or set MARKETPLACE_CHAIN_ID and MARKETPLACE_ROUTER instead`,
      { cause },
    );
  }
}

import { pino } from "pino";
import type { Address, PrivateKeyAccount } from "viem";
import { createSignIn, type VerifyContract } from "../../marketplace/accounts/signIn.ts";
import { createStore } from "../../marketplace/database/openStore.ts";
import type { ContextProviders } from "../../marketplace/execute/injectContext.ts";
import { createMcpClient } from "../../marketplace/mcp/createMcpClient.ts";
import { createMarketplace, type MarketplaceOptions } from "../../marketplace/process/createMarketplace.ts";
import { createMarketMetrics } from "../../marketplace/process/metrics.ts";
import { openServices } from "../../marketplace/process/openServices.ts";
import type { Backend } from "../../marketplace/query/interpreter/launch.ts";
import type { Models } from "../../marketplace/query/models/readModels.ts";
import type { MemoryOptions } from "../../marketplace/query/turn/createMemory.ts";
import { createEarnings } from "../../marketplace/settlement/createEarnings.ts";
import { createSettlementClient } from "../../marketplace/settlement/createSettlementClient.ts";
import type { ToolListing } from "../../settlement/chain/inspectChain.ts";
import { type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import type { Store as DatabaseStore } from "../../settlement/ledger/testing/backends.ts";
import { checkAnswers } from "../local/daemon/checkAnswers.ts";
import { SERVICE_TOKEN } from "./openDaemon.ts";

export const PUBLIC_URL = "https://market.example";
export const CHAIN_ID = 8453;
// Nothing listens on this port.
const NOWHERE = "http://127.0.0.1:1";

export type Answer = { status: number; body: Record<string, unknown>; headers: Record<string, unknown> };
export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  secret?: string | null,
  headers?: Record<string, string>,
) => Promise<Answer>;

// What a test says that the chain knows of a tool.
export const standing = (owner: Address, { price = 0n, stake = 10_000_000n } = {}): ToolListing => ({
  owner,
  payee: owner,
  price: microUsdc(price),
  stake: microUsdc(stake),
  requiredStake: microUsdc(10_000_000n > price * 100n ? 10_000_000n : price * 100n),
  withdrawing: microUsdc(0n),
});

// The HTTP API of a marketplace without a port, on one of the two databases, with real MCP servers and a chain that a test
// writes. Every answer is compared with the schema of its route. Time stands still until it is told to pass.
export async function openMarketplace(
  database: DatabaseStore,
  options: {
    verifyContract?: VerifyContract;
    daemonUrl?: string;
    holder?: string;
    providers?: ContextProviders;
    rateLimitPerSecond?: number;
    trustedProxies?: string[];
    searchPlaces?: number;
    models?: Models;
    interpreter?: Backend;
    maxKeptBytes?: number;
    memory?: MemoryOptions;
    maxFreeKeptBytes?: number;
    maxTotalKeptBytes?: number;
    maxFreeKeysPerDay?: number;
    maxTotalFreeKeys?: number;
    maxFreeAccounts?: number;
    maxUnpaid?: MicroUsdc;
    metricsToken?: string;
    deliveries?: NonNullable<MarketplaceOptions["deliveries"]>;
    requests?: NonNullable<MarketplaceOptions["requests"]>;
    sign?: (request: { endpoint: string; toolId: string; payer: string }) => Promise<string>;
  } = {},
) {
  const { verifyContract = async () => false, daemonUrl = NOWHERE, holder = "tests", providers = {} } = options;
  const { models = [] } = options;
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs };
  const lines: string[] = [];
  const unpaidCosts: MicroUsdc[] = [];
  const log = pino({ level: "debug" }, { write: (line) => void lines.push(line) });
  const onChain = new Map<string, ToolListing>();
  const metrics = createMarketMetrics();
  const store = await createStore(database.database());
  const signIn = createSignIn({ store, clock, publicUrl: PUBLIC_URL, chainId: CHAIN_ID, verifyContract });
  const mcp = createMcpClient({ policy: "development" });
  const settlement = createSettlementClient({ url: daemonUrl, token: SERVICE_TOKEN, helpUrl: null });
  const { services, execute } = openServices({
    store,
    clock,
    chain: { tools: async (ids) => ids.map((id) => onChain.get(uuidFromToolId(id)) ?? null) },
    signIn,
    settlement,
    mcp,
    sign: ({ endpoint, toolId, payer, purpose }) =>
      payer !== undefined && options.sign !== undefined
        ? options.sign({ endpoint, toolId, payer })
        : Promise.resolve(`token ${toolId} ${endpoint} ${payer ?? purpose}`),
    jwks: async () => ({ keys: [] }),
    providers,
    publicUrl: PUBLIC_URL,
    helpUrl: null,
    holder,
    log,
    models,
    interpreter: options.interpreter ?? null,
    ...(options.memory && { memory: options.memory }),
    searchPlaces: options.searchPlaces ?? 10_000,
    sessionTtlMs: 1_200_000,
    maxKeptBytes: options.maxKeptBytes ?? 256_000_000,
    maxFreeKeptBytes: options.maxFreeKeptBytes ?? options.maxKeptBytes ?? 256_000_000,
    maxTotalKeptBytes: options.maxTotalKeptBytes ?? 8_000_000_000,
    maxFreeKeysPerDay: options.maxFreeKeysPerDay ?? 10_000,
    maxTotalFreeKeys: options.maxTotalFreeKeys ?? 10_000_000,
    maxFreeAccounts: options.maxFreeAccounts ?? 1_000_000,
    maxUnpaid: options.maxUnpaid ?? microUsdc(1_000_000n),
    keysKeptMs: 30 * 24 * 60 * 60 * 1_000,
    observeCall: () => undefined,
    observeEvicted: metrics.observeEvicted,
    observeTurn: () => undefined,
    observeUnpaid: (unpaid) => void unpaidCosts.push(unpaid),
  });
  const { registry, catalogue, query } = services;
  const { app, drain, undelivered, unanswered, close } = await createMarketplace({
    services,
    earningsOf: createEarnings(settlement),
    readiness: async () => {
      const ok = { ok: true, reason: "it answers" };
      return { ready: true, components: { database: ok, settlement: ok, chain: ok } };
    },
    rateLimitPerSecond: options.rateLimitPerSecond ?? 1_000,
    trustedProxies: options.trustedProxies ?? [],
    log,
    metrics,
    metricsToken: options.metricsToken ?? null,
    ...(options.deliveries && { deliveries: options.deliveries }),
    ...(options.requests && { requests: options.requests }),
  });
  checkAnswers(app);
  const ask: Ask = async (method, path, body, secret = null, headers = {}) => {
    // A second passes, so that whoever asks often is not told to slow down.
    nowMs += 1_000;
    const reply = await app.inject({
      method: method as "GET",
      url: path,
      headers: { ...headers, ...(secret !== null && { authorization: `Bearer ${secret}` }) },
      ...(body !== undefined && { payload: body as object }),
    });
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers };
  };
  let listening: Promise<string> | undefined;
  return {
    app,
    // For those who want a connection: where it listens.
    listen: () => {
      listening ??= app.listen({ host: "127.0.0.1", port: 0 });
      return listening;
    },
    ask,
    // What it has logged, and counted.
    lines,
    metrics,
    // What models have cost that nobody paid for.
    unpaidCosts,
    drain,
    undelivered,
    unanswered,
    store,
    registry,
    catalogue,
    onChain,
    execute,
    query,
    settlement,
    pass: (ms: number) => {
      nowMs += ms;
    },
    // Pings every tool that is due once that much time has passed. They are taken a few at a time.
    async pingAfter(ms: number) {
      nowMs += ms;
      for (let left = true; left; ) {
        const { answered, failed } = await registry.pingDue();
        left = answered + failed > 0;
      }
    },
    async close() {
      await query.jobs.stop();
      await close();
      await Promise.all([execute.evicted(), query.evicted()]);
      await mcp.close();
      await settlement.close();
      await store.close();
    },
  };
}

export async function logIn(ask: Ask, wallet: PrivateKeyAccount): Promise<string> {
  const { body: challenge } = await ask("POST", "/api/v1/auth/challenge", { wallet: wallet.address });
  const message = challenge.message as string;
  const signature = await wallet.signMessage({ message });
  const { body } = await ask("POST", "/api/v1/auth/login", { message, signature });
  return body.login as string;
}

export async function makeKey(ask: Ask, wallet: PrivateKeyAccount, name = "agent"): Promise<string> {
  const { body } = await ask("POST", "/api/v1/keys", { name }, await logIn(ask, wallet));
  return body.key as string;
}

// Lists a tool as its owner would, and answers what the marketplace said to it.
export async function register(ask: Ask, wallet: PrivateKeyAccount, registration: object): Promise<Answer> {
  const challenge = await ask("POST", "/api/v1/tools/challenge", registration);
  if (challenge.status !== 200) return challenge;
  const message = challenge.body.message as string;
  return ask("POST", "/api/v1/tools", { ...registration, message, signature: await wallet.signMessage({ message }) });
}

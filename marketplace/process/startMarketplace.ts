import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { type Clock, systemClock } from "../../settlement/clock.ts";
import { listenError } from "../../settlement/daemon/http/server/tryListen.ts";
import { paceContracts } from "../accounts/paceContracts.ts";
import { createSignIn } from "../accounts/signIn.ts";
import { openChain } from "../chain/openChain.ts";
import type { MarketConfig } from "../config.ts";
import { createContextProviders } from "../context/createContextProviders.ts";
import { createHyperliquidSource } from "../context/sources/createHyperliquidSource.ts";
import { createPolymarketSource } from "../context/sources/createPolymarketSource.ts";
import { createWalletSource } from "../context/sources/createWalletSource.ts";
import { openStore } from "../database/openStore.ts";
import { createMcpClient } from "../mcp/createMcpClient.ts";
import { createBackend } from "../query/interpreter/launch.ts";
import { createEarnings } from "../settlement/createEarnings.ts";
import { createSettlementClient } from "../settlement/createSettlementClient.ts";
import { createSigner } from "../signing/createSigner.ts";
import { watchKeyring } from "../signing/watchKeyring.ts";
import { createMarketplace } from "./createMarketplace.ts";
import { createMarketMetrics } from "./metrics.ts";
import { openServices } from "./openServices.ts";
import { createReadiness } from "./readiness.ts";
import { keepExecutions, keepListings, keepQuestions } from "./upkeep.ts";

export type RunningMarketplace = {
  app: FastifyInstance;
  // Where it listens, with the port that it got.
  url: string;
  // Takes no more writes, finishes what is running, and closes what it has opened.
  stop(): Promise<void>;
};

export type StartMarketplaceOptions = {
  log: FastifyBaseLogger;
  clock?: Clock;
  // A place for what else is to be served, before it listens.
  extend?: (app: FastifyInstance) => void | Promise<void>;
};

// The whole process. It has no key that could move money: what is paid is decided by the settlement daemon, which it asks.
export async function startMarketplace(
  config: MarketConfig,
  { log, clock = systemClock, extend }: StartMarketplaceOptions,
): Promise<RunningMarketplace> {
  const { publicUrl, helpUrl, chainId, issuer } = config;
  const keyring = watchKeyring(config.signingKeys);
  const metrics = createMarketMetrics();
  const store = await openStore(config.database);
  const chain = openChain(config);
  const settlement = createSettlementClient({ ...config.settlement, helpUrl });
  const verifyContract = paceContracts(chain.verifyContract, clock);
  const signIn = createSignIn({ store, clock, publicUrl, chainId, verifyContract });
  const signer = createSigner({ issuer, keyring, clock });
  const mcp = createMcpClient({ policy: config.privateEndpoints ? "development" : "public" });
  const providers = createContextProviders(
    {
      hyperliquid: createHyperliquidSource(),
      polymarket: createPolymarketSource(),
      wallet: createWalletSource({
        client: chain.client,
        chainId,
        tokens: async () => [{ address: await chain.usdc(), symbol: "USDC", decimals: 6 }],
      }),
    },
    (kind, error) => log.warn({ err: error, kind }, "the data of a wallet cannot be read"),
  );
  const { services, execute } = openServices({
    ...config,
    ...metrics,
    store,
    clock,
    chain,
    signIn,
    settlement,
    mcp,
    sign: signer.sign,
    jwks: signer.jwks,
    providers,
    interpreter: config.interpreter && createBackend(config.interpreter),
    log,
  });
  const { registry, catalogue, query } = services;
  await catalogue.follow();
  const readiness = createReadiness(
    {
      database: async () => store.read.all("SELECT 1"),
      settlement: settlement.ready,
      chain: () => chain.tools([]),
    },
    (part, error) => log.warn({ err: error, part }, "not ready"),
  );
  const marketplace = await createMarketplace({
    services,
    earningsOf: createEarnings(settlement),
    readiness,
    rateLimitPerSecond: config.rateLimitPerSecond,
    trustedProxies: config.trustedProxies,
    log,
    metrics,
    metricsToken: config.metricsToken,
  });
  const { app } = marketplace;
  const closeAll = async () => {
    await mcp.close();
    await settlement.close();
    await store.close();
  };

  let url: string;
  try {
    await extend?.(app);
    url = await app.listen(config.listen);
  } catch (error) {
    await app.close();
    await closeAll();
    throw listenError(error, config.listen, "MARKETPLACE_LISTEN");
  }
  const lapsed = await execute.lapseOwn();
  if (lapsed > 0) log.warn({ event: "lapsed", calls: lapsed }, "calls of the last process were interrupted");
  const upkeep = [
    keepListings({ registry, catalogue, settlement, log, metrics }),
    keepExecutions({ execute, log, metrics }),
    keepQuestions({ query, log, metrics }),
  ];
  const interrupted = await query.jobs.recoverOwn();
  if (interrupted > 0)
    log.warn({ event: "interrupted", jobs: interrupted }, "questions of the last process were left over");
  log.info({ event: "started", url, holder: config.holder }, `listening on ${url}`);

  async function stop(): Promise<void> {
    log.info({ event: "draining" }, "draining: no more writes are taken");
    marketplace.drain();
    await query.jobs.stop();
    await marketplace.close();
    await Promise.all(upkeep.map((each) => each.stop()));
    await Promise.all([execute.evicted(), query.evicted()]);
    await execute.writeCounts().catch((error) => log.warn({ err: error }, "counts were not written"));
    await closeAll();
    log.info({ event: "stopped" }, "stopped");
  }
  let stopping: Promise<void> | undefined;
  return {
    app,
    url,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

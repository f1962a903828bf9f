import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { systemClock } from "../../clock.ts";
import { type Config, policyOf } from "../../config.ts";
import { SettlementError } from "../../domain/errors.ts";
import { type OpenEngineOptions, openEngine } from "../../openEngine.ts";
import { listenError } from "../http/server/tryListen.ts";
import { createAlerts } from "../observability/alerts.ts";
import { createMetrics } from "../observability/metrics.ts";
import { createReadiness } from "../observability/readiness.ts";
import { reportEvent, reportFailedTick } from "../observability/reportEvent.ts";
import { createDaemon } from "./createDaemon.ts";
import { createServices } from "./createServices.ts";
import { runLoop } from "./runLoop.ts";
import { archiveOld, forgetOld, watchGas } from "./upkeep.ts";

export type RunningDaemon = {
  app: FastifyInstance;
  // Where it listens, with the port that it got.
  url: string;
  // Resolves if the ledger turns out to be damaged. Then nothing that it says can be relied on, and the process should end.
  damaged: Promise<SettlementError>;
  // Takes no more writes, finishes what is running, settles once more, gives its leases back and closes the ledger.
  stop(): Promise<void>;
};

// Parts of the engine that tests exchange; production leaves them as they are.
export type StartOptions = Pick<OpenEngineOptions, "policy" | "clock" | "reached" | "openSigner"> & {
  log: FastifyBaseLogger;
  // A place for what else is to be served, before the daemon listens.
  extend?: (app: FastifyInstance) => void | Promise<void>;
};

// The whole service: engine, HTTP API and the loop. It listens before it settles, so that a second daemon on the same
// port fails before it has touched anything.
export async function startDaemon(config: Config, options: StartOptions): Promise<RunningDaemon> {
  const { log, extend, policy, clock = systemClock, ...engineOptions } = options;
  const { serviceToken } = config;
  if (serviceToken === null) {
    throw new SettlementError("invalid_config", "SETTLEMENT_SERVICE_TOKEN is missing; openssl rand -hex 32 makes one");
  }
  const metrics = createMetrics(clock);
  const alerts = createAlerts({ log, clock, webhook: config.alertWebhook });
  const opened = await openEngine({
    ...engineOptions,
    chainId: config.chainId,
    rpcUrls: config.rpcUrls,
    router: config.router,
    ledger: config.ledger,
    archive: config.archive,
    keys: config.keys,
    holder: config.holder,
    policy: { ...policyOf(config), ...policy },
    clock,
    report: (event) => {
      metrics.observeEvent(event);
      reportEvent(event, log, alerts);
    },
    observe: metrics.observeEndpoint,
    compared: metrics.compareEndpoints,
  });
  const { engine, ledger, chain } = opened;
  metrics.readFrom({ ledger, chain, operators: engine.operators });

  let loop: ReturnType<typeof runLoop> | undefined;
  const startedAtMs = clock.nowMs();
  const notYet = { startedAtMs, lastDoneAtMs: null, failures: 0, lastError: null };
  const { minOperatorWei } = config;
  const readiness = createReadiness({
    ledger,
    chain,
    engine,
    clock,
    minOperatorWei,
    loop: () => loop?.state() ?? notYet,
  });
  const daemon = await createDaemon({
    services: createServices({ ...config, engine, ledger, chain, clock, readiness }),
    serviceToken,
    ...(config.console && { console: { token: config.consoleToken, marketplaceUrl: config.marketplaceUrl } }),
    log,
    metrics,
  });
  const { app } = daemon;
  const { promise: damaged, resolve: reportDamage } = Promise.withResolvers<SettlementError>();
  const notice = (error: unknown) => {
    if (!(error instanceof SettlementError && error.code === "ledger_corrupt")) return;
    alerts.raise(error.code, error.message);
    reportDamage(error);
  };
  app.addHook("onError", async (_request, _reply, error) => notice(error));

  let url: string;
  try {
    await engine.followClock();
    await extend?.(app);
    url = await app.listen(config.listen);
  } catch (error) {
    await app.close();
    await opened.close();
    throw listenError(error, config.listen, "SETTLEMENT_LISTEN");
  }
  loop = runLoop({
    tick: () => engine.tick(),
    everyMs: config.tickMs,
    clock,
    log,
    onDone: metrics.observeTick,
    onFailure: (error) => {
      metrics.observeFailedTick();
      notice(error);
      reportFailedTick(error, alerts);
    },
  });
  const watch = watchGas(readiness, alerts);
  const upkeep = forgetOld(ledger, clock, log);
  const archiving = config.archive === null ? null : archiveOld(engine, log, alerts);
  log.info({ event: "started", url, operators: engine.operators, holder: config.holder }, `listening on ${url}`);

  async function stop(): Promise<void> {
    log.info({ event: "draining" }, "draining: no more writes are taken");
    clearInterval(watch);
    clearInterval(upkeep);
    await archiving?.stop();
    daemon.drain();
    await daemon.close();
    await loop?.stop();
    try {
      await engine.tick({ atOnce: true });
    } catch (error) {
      // What is left is in the ledger, for the next process to go on with.
      log.error({ event: "tick_failed", err: error }, "the last tick failed");
    }
    await engine.releaseLeases().catch((error) => log.warn({ err: error }, "a lease was not given back"));
    await alerts.settled();
    await opened.close();
    log.info({ event: "stopped" }, "stopped");
  }
  let stopping: Promise<void> | undefined;
  return {
    app,
    url,
    damaged,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

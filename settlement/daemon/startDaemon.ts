import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { type Clock, systemClock } from "../clock.ts";
import { type Config, policyOf } from "../config.ts";
import { SettlementError } from "../domain/errors.ts";
import type { EngineEvent } from "../engine/context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type OpenEngineOptions, openEngine } from "../openEngine.ts";
import { type Alerts, createAlerts } from "./alerts.ts";
import { createDaemon } from "./createDaemon.ts";
import { createServices } from "./createServices.ts";
import { createMetrics } from "./metrics.ts";
import { createReadiness } from "./readiness.ts";
import { runLoop } from "./runLoop.ts";

export type RunningDaemon = {
  app: FastifyInstance;
  // Where it listens, with the port that it got.
  url: string;
  // Resolves if the ledger turns out to be damaged. Then nothing that it says can be relied on, and the process should end.
  damaged: Promise<SettlementError>;
  // Takes no more writes, finishes what is running, settles once more, gives its leases back and closes the ledger.
  stop(): Promise<void>;
};

// What else the engine is made of may be exchanged; production leaves it as it is.
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
    keys: config.keys,
    holder: config.holder,
    policy: { ...policyOf(config), ...policy },
    clock,
    report: (event) => {
      metrics.observeEvent(event);
      tell(event, log, alerts);
    },
    observe: metrics.observeEndpoint,
  });
  const { engine, ledger, chain } = opened;
  metrics.readFrom({ ledger, chain, operators: engine.operators });

  let loop: ReturnType<typeof runLoop> | undefined;
  const startedAtMs = clock.nowMs();
  const notYet = { startedAtMs, lastDoneAtMs: null, failures: 0, lastError: null };
  const { minOperatorWei, rateLimitPerSecond } = config;
  const readiness = createReadiness({
    ledger,
    chain,
    engine,
    clock,
    minOperatorWei,
    loop: () => loop?.state() ?? notYet,
  });
  const daemon = createDaemon({
    services: createServices({ ...config, engine, ledger, chain, clock, readiness }),
    serviceToken,
    ...(config.console && { console: { token: config.consoleToken } }),
    rateLimitPerSecond,
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
    await extend?.(app);
    url = await app.listen(config.listen);
  } catch (error) {
    await app.close();
    await opened.close();
    throw listenError(error, config);
  }
  loop = runLoop({
    tick: engine.tick,
    everyMs: config.tickMs,
    clock,
    log,
    onDone: metrics.observeRound,
    onFailure: (error) => {
      metrics.observeFailedRound();
      notice(error);
      alerts.raise("round_failed", error instanceof Error ? error.message : String(error));
    },
  });
  const watch = watchGas(readiness, alerts);
  const upkeep = forgetOldFigures(ledger, clock, log);
  log.info({ event: "started", url, operators: engine.operators, holder: config.holder }, `listening on ${url}`);

  async function stop(): Promise<void> {
    log.info({ event: "draining" }, "draining: no more writes are taken");
    clearInterval(watch);
    clearInterval(upkeep);
    daemon.drain();
    await daemon.close();
    await loop?.stop();
    try {
      await engine.tick();
    } catch (error) {
      // What is left is in the ledger, for the next process to go on with.
      log.error({ event: "round_failed", err: error }, "the last round failed");
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

// The console shows a month at most.
const FIGURES_KEPT_MS = 31 * 24 * 60 * 60 * 1_000;
const UPKEEP_MS = 60 * 60 * 1_000;
// Far more than an hour adds, so that what a long stop has left is soon gone.
const MAX_FORGOTTEN = 5_000;

function forgetOldFigures(ledger: Ledger, clock: Clock, log: FastifyBaseLogger): NodeJS.Timeout {
  const forget = async () => {
    await ledger.forgetFigures(clock.nowMs() - FIGURES_KEPT_MS, MAX_FORGOTTEN);
  };
  return setInterval(() => {
    forget().catch((error) => log.warn({ err: error }, "old figures were not forgotten"));
  }, UPKEEP_MS).unref();
}

const GAS_CHECK_MS = 60_000;

// Gas that runs out stops settlement hours later and without another sign.
function watchGas(readiness: ReturnType<typeof createReadiness>, alerts: Alerts): NodeJS.Timeout {
  const look = async () => {
    const { operators, chain } = (await readiness()).components;
    // A chain that does not answer says nothing about gas, and is reported by itself.
    if (chain.ok && !operators.ok) alerts.raise("operator_gas", operators.reason);
  };
  return setInterval(() => void look().catch(() => undefined), GAS_CHECK_MS).unref();
}

// Each event under the ids by which a charge can be followed: its batch and its transaction.
function tell(event: EngineEvent, log: FastifyBaseLogger, alerts: Alerts): void {
  switch (event.kind) {
    case "planned":
      log.info({ event: event.kind, batch: event.root, operator: event.operator }, "batch planned");
      return;
    case "sent":
      log.info({ event: event.kind, batch: event.id, tx: event.txHash, outcome: event.outcome }, "transaction sent");
      return;
    case "replaced":
      log.info({ event: event.kind, batch: event.id, maxFeePerGas: `${event.maxFeePerGas}` }, "transaction replaced");
      return;
    case "included":
      log.info(
        { event: event.kind, batch: event.id, tx: event.txHash, gasUsed: `${event.gasUsed}` },
        "transaction included",
      );
      return;
    case "lost":
    case "final":
    case "released":
      log.info({ event: event.kind, batch: event.id }, `transaction ${event.kind}`);
      return;
    case "holding":
      alerts.raise(event.kind, `operator ${event.operator} holds: ${event.reason}`);
      return;
    case "row_set_aside":
      alerts.raise(event.kind, `the charges of ${event.payer} are set aside: ${event.reason}`);
      return;
    case "key_used_elsewhere":
      alerts.raise(event.kind, `the key of operator ${event.operator} was used elsewhere at nonce ${event.nonce}`);
      return;
    case "usdc_upgraded":
      alerts.raise(event.kind, `the code behind USDC was ${event.from} and is now ${event.to}`);
      return;
    case "halted":
    case "chain_unavailable":
    case "ledger_unavailable":
    case "signer_unavailable":
      alerts.raise(event.kind, event.reason);
  }
}

function listenError(error: unknown, { listen }: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EADDRINUSE") return error;
  return new SettlementError("invalid_config", `port ${listen.port} is taken; SETTLEMENT_LISTEN names another one`);
}

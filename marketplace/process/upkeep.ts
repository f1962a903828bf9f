import type { FastifyBaseLogger } from "fastify";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import type { OpenedExecute } from "../execute/openExecute.ts";
import type { OpenedQuery } from "../query/openQuery.ts";
import { createNaming } from "../registry/createNaming.ts";
import type { Registry } from "../registry/createRegistry.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import type { MarketMetrics } from "./metrics.ts";

export type Upkeep = { stop(): Promise<void> };

// How soon a change that another process has made is seen here, how long a stake that is gone still sells, and how often it
// is looked which pings are due.
const FOLLOW_MS = 1_000;
const STANDINGS_MS = 30_000;
const PINGS_MS = 60_000;
const FORGET_LISTINGS_MS = 3_600_000;
const STANDINGS_AT_A_TIME = 500;

export function keepListings(options: {
  registry: Registry;
  catalogue: Catalogue;
  settlement: SettlementClient;
  log: FastifyBaseLogger;
  metrics: MarketMetrics;
}): Upkeep {
  const { registry, catalogue, settlement, log, metrics } = options;
  const nameTools = createNaming(settlement);
  const tasks = [
    repeat("following other processes", FOLLOW_MS, log, async () => {
      await catalogue.follow();
      const all = [...catalogue.all()];
      const active = all.filter(({ status }) => status.kind === "active").length;
      const waiting = catalogue.waiting();
      metrics.setListings({ active: active - waiting, waiting, delisted: all.length - active });
    }),
    repeat("naming tools", FOLLOW_MS, log, () => nameTools(catalogue.all())),
    repeat("reading stakes", STANDINGS_MS, log, async () => {
      const all = [...catalogue.all()];
      for (let start = 0; start < all.length; start += STANDINGS_AT_A_TIME) {
        await registry.readStandings(all.slice(start, start + STANDINGS_AT_A_TIME));
      }
    }),
    repeat("pinging tools", PINGS_MS, log, async () => {
      const { answered, failed } = await registry.pingDue();
      metrics.observePings(answered, failed);
    }),
    repeat("forgetting listings", FORGET_LISTINGS_MS, log, registry.forgetAbandoned),
  ];
  return together(tasks);
}

const REPORTS_MS = 1_000;
const COUNTS_MS = 5_000;
const FORGET_MS = 60_000;

export function keepExecutions(options: {
  execute: OpenedExecute;
  log: FastifyBaseLogger;
  metrics: MarketMetrics;
}): Upkeep {
  const { execute, log, metrics } = options;
  const tasks = [
    repeat("telling the daemon", REPORTS_MS, log, async () => metrics.setUnreported(await execute.tellDue())),
    repeat("writing counts", COUNTS_MS, log, execute.writeCounts),
    repeat("forgetting answers", FORGET_MS, log, execute.forgetAnswers),
  ];
  return together(tasks);
}

const ALIVE_MS = 10_000;

export function keepQuestions(options: { query: OpenedQuery; log: FastifyBaseLogger; metrics: MarketMetrics }): Upkeep {
  const { query, log, metrics } = options;
  const tasks = [
    repeat("telling the daemon of turns", REPORTS_MS, log, async () =>
      metrics.setUnrecordedTurns(await query.tellDue()),
    ),
    repeat("keeping questions alive", ALIVE_MS, log, query.jobs.keepAlive),
    repeat("forgetting questions", FORGET_MS, log, query.jobs.forget),
  ];
  return together(tasks);
}

const together = (tasks: readonly Upkeep[]): Upkeep => ({
  async stop() {
    await Promise.all(tasks.map(({ stop }) => stop()));
  },
});

// Does something over and over, never twice at a time. What fails is tried again the next time.
export function repeat(what: string, everyMs: number, log: FastifyBaseLogger, work: () => Promise<void>): Upkeep {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = work()
      .catch((error) => log.warn({ err: error }, `${what} failed`))
      .finally(() => {
        busy = false;
      });
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

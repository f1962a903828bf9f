import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../clock.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Alerts } from "../observability/alerts.ts";
import type { Readiness } from "../observability/readiness.ts";

// The console shows a month at most.
const STATS_KEPT_MS = 31 * 24 * 60 * 60 * 1_000;
const UPKEEP_MS = 60 * 60 * 1_000;
// Far more than an hour adds, so that what a long stop has left is soon gone.
const MAX_FORGOTTEN = 5_000;

export function forgetOldStats(ledger: Ledger, clock: Clock, log: FastifyBaseLogger): NodeJS.Timeout {
  const forget = async () => {
    await ledger.forgetStats(clock.nowMs() - STATS_KEPT_MS, MAX_FORGOTTEN);
  };
  return setInterval(() => {
    forget().catch((error) => log.warn({ err: error }, "old stats were not forgotten"));
  }, UPKEEP_MS).unref();
}

const GAS_CHECK_MS = 60_000;

// Gas that runs out stops settlement hours later and without another sign.
export function watchGas(readiness: Readiness, alerts: Alerts): NodeJS.Timeout {
  const look = async () => {
    const { operators, chain } = (await readiness()).components;
    // A chain that does not answer says nothing about gas, and is reported by itself.
    if (chain.ok && !operators.ok) alerts.raise("operator_gas", operators.reason);
  };
  return setInterval(() => void look().catch(() => undefined), GAS_CHECK_MS).unref();
}

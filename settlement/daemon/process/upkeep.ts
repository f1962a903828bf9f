import { setTimeout as pause } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../clock.ts";
import type { Engine } from "../../engine/createEngine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Alerts } from "../observability/alerts.ts";
import type { Readiness } from "../observability/readiness.ts";

// The console shows a month at most.
const STATS_KEPT_MS = 31 * 24 * 60 * 60 * 1_000;
const UPKEEP_MS = 60 * 60 * 1_000;
// Whoever repeats a request under its key a week later is answered again: as before, since what it did is known by its own name.
const ANSWERS_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
// As long as what was asked under a key is answered again.
const UNUSED_SESSIONS_KEPT_MS = ANSWERS_KEPT_MS;
const FORGOTTEN_AT_ONCE = 500;
const MAX_PASSES = 10_000;
const PAUSE_MS = 20;
// Far more than an hour adds, so that what a long stop has left is soon gone.
const MAX_FORGOTTEN = 5_000;

export function forgetOld(ledger: Ledger, clock: Clock, log: FastifyBaseLogger): NodeJS.Timeout {
  const forget = async () => {
    await ledger.forgetStats(clock.nowMs() - STATS_KEPT_MS, MAX_FORGOTTEN);
    const nowMs = clock.nowMs();
    await littleByLittle((limit) => ledger.forgetAnswers(nowMs - ANSWERS_KEPT_MS, limit));
    await littleByLittle((limit) => ledger.forgetSessions(nowMs - UNUSED_SESSIONS_KEPT_MS, limit));
  };
  return setInterval(() => {
    forget().catch((error) => log.warn({ err: error }, "old stats, answers and sessions were not forgotten"));
  }, UPKEEP_MS).unref();
}

// So that nobody waits for it.
async function littleByLittle(forget: (limit: number) => Promise<number>): Promise<void> {
  for (let i = 0; i < MAX_PASSES; i++) {
    if ((await forget(FORGOTTEN_AT_ONCE)) < FORGOTTEN_AT_ONCE) return;
    await pause(PAUSE_MS);
  }
}

export type Archiver = { stop(): Promise<void> };

// Moves what is old into the archive, now and then and in small steps: between two of them it waits for as long as the last one
// took, so that whoever accrues has the ledger for at least half of the time.
export function archiveOld(engine: Pick<Engine, "archive">, log: FastifyBaseLogger, alerts: Alerts): Archiver {
  let stopped = false;
  const breathe = async (busyMs: number) => {
    if (stopped) throw new Stopped();
    await pause(busyMs);
  };
  const run = async () => {
    try {
      const { files, charges, bytes, held } = await engine.archive({ breathe });
      if (files > 0) log.info({ event: "archived", files, charges, bytes }, `archived ${charges} charges`);
      if (held !== null) log.warn({ event: "archive_held" }, `nothing is archived: ${held}`);
    } catch (error) {
      if (error instanceof Stopped) return;
      log.error({ event: "archive_failed", err: error }, "the archive failed");
      alerts.raise("archive_failed", error instanceof Error ? error.message : String(error));
    }
  };
  let running = run();
  const timer = setInterval(() => {
    running = running.then(() => (stopped ? undefined : run()));
  }, UPKEEP_MS).unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

// The daemon ends; the next one goes on where this one stopped.
class Stopped extends Error {}

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

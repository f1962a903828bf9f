import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { NO_HASH } from "../../settlement/domain/charges/charge.ts";
import type { Sql } from "../../settlement/ledger/database/sql.ts";
import type { SessionView } from "../../settlement/views/session.ts";
import type { Store } from "../database/openStore.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import { DUE_AT_A_TIME, FIRST_WAIT_MS, retryDelayMs } from "../settlement/reportAgain.ts";
import { delayReport, deleteReport, insertReport, listDueReports, type Report } from "./unreported.ts";

// What else is written once the daemon was told.
export type Planned = { told: (sql: Sql, session: SessionView | null) => Promise<void> };

export type Reporter = {
  // Tells the daemon what became of a call that was held. If the daemon is away it is told later, and this resolves as soon as
  // that is on disk: a delivered call is owed, whether or not the daemon is there.
  // Without a report there was nothing held. `planned`: it is on disk already, and is taken from there once it was told, in one
  // transaction with what that says. Returns the session as the report leaves it; null if the daemon does not say.
  report(report: Report | null, planned?: Planned | null): Promise<SessionView | null>;
  // For whoever writes the answer and the report in one transaction, before the daemon is told.
  plan(sql: Sql, report: Report): Promise<void>;
  // Nobody knows whether the call was held. If it was, it must not stay so.
  giveUp(callId: string): Promise<void>;
  // Tells what is due. Returns how many were told.
  tellDue(): Promise<number>;
};

const NO_HASHES = { requestHash: NO_HASH, responseHash: NO_HASH, schemaHash: NO_HASH };

export function createReporter(options: {
  store: Store;
  clock: Clock;
  settlement: SettlementClient;
  log: FastifyBaseLogger;
}): Reporter {
  const { store, clock, settlement, log } = options;

  async function tell({ callId, outcome, hashes, closes }: Report): Promise<SessionView | null> {
    let session: SessionView | null = null;
    try {
      if (outcome === "delivered") session = await settlement.capture(callId, hashes);
      else session = await settlement.void(callId);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code === "unavailable") throw error;
      // It was never held, or its hold was too old and given up: the buyer keeps the answer, and is not charged for it.
      log.warn({ event: "not_reported", call: callId, outcome, reason: error.message }, "a call was not reported");
    }
    return closes === null ? session : settlement.closeSession(closes);
  }

  const later = (report: Report) =>
    store.shared((sql) => insertReport(sql, report, clock.nowMs() + retryDelayMs(0), clock.nowMs()));

  return {
    async report(report, planned = null) {
      if (report === null) return null;
      let session: SessionView | null;
      try {
        session = await tell(report);
      } catch (error) {
        log.warn({ err: error, call: report.callId }, "the daemon is told later");
        if (planned === null) await later(report);
        else await store.shared((sql) => delayReport(sql, report.callId, clock.nowMs() + retryDelayMs(0)));
        return null;
      }
      if (planned !== null) {
        await store.shared(async (sql) => {
          await deleteReport(sql, report.callId);
          await planned.told(sql, session);
        });
      }
      return session;
    },
    plan: (sql, report) => insertReport(sql, report, clock.nowMs() + FIRST_WAIT_MS, clock.nowMs()),
    giveUp: (callId) => later({ callId, outcome: "failed", hashes: NO_HASHES, closes: null }),
    async tellDue() {
      const due = await listDueReports(store.read, clock.nowMs(), DUE_AT_A_TIME);
      let told = 0;
      for (const { attempts, ...report } of due) {
        try {
          await tell(report);
          await store.shared((sql) => deleteReport(sql, report.callId));
          told += 1;
        } catch (error) {
          log.warn({ err: error, call: report.callId }, "the daemon is told later");
          const dueMs = clock.nowMs() + retryDelayMs(attempts);
          await store.shared((sql) => delayReport(sql, report.callId, dueMs));
          // The daemon is away: the others would wait in vain too.
          return told;
        }
      }
      return told;
    },
  };
}

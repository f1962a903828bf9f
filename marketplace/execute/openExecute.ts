import type { Address } from "viem";
import { type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import { hasPaid, notePaid } from "../accounts/hasPaid.ts";
import { walletsOf } from "../accounts/walletsOf.ts";
import { createQuota } from "../database/createQuota.ts";
import { inPieces } from "../database/inPieces.ts";
import type { Listing } from "../registry/listing.ts";
import { addCalls, type CallCounts, type PayerCounts } from "../registry/listings.ts";
import { createKeyBound } from "./boundKeys.ts";
import { createExecute } from "./createExecute.ts";
import { createExecuteOnce, type ExecuteOnce } from "./createExecuteOnce.ts";
import { createReporter } from "./createReporter.ts";
import { createSessions, type Sessions } from "./createSessions.ts";
import { forgetEvidence } from "./evidence.ts";
import { evictAnswers, evictOldest, forgetAnswers, forgetKeys, lapseOwn } from "./executions.ts";
import type { PaidCalls } from "./paidCalls.ts";
import { countReports } from "./unreported.ts";

export type OpenExecuteOptions = PaidCalls & {
  sessionTtlMs: number;
  // How much of the answers under Idempotency-Keys is kept: for one account, for one that never paid for anything, and for all.
  maxKeptBytes: number;
  maxFreeKeptBytes: number;
  maxTotalKeptBytes: number;
  // How many keys of calls that cost nothing one account may use in a day.
  maxFreeKeysPerDay: number;
  // How many there may be of all accounts before those that never paid may use no more.
  maxTotalFreeKeys: number;
  // How long a key is known after its call.
  keysKeptMs: number;
  observeCall: (outcome: string, durationMs: number) => void;
  // Hears of answers that were forgotten before their time: for want of room of their account's, or of everybody's.
  observeEvicted: (room: "account" | "total", answers: number) => void;
};

export type ObservedCall = {
  listing: Listing;
  account: Address;
  outcome: string;
  // Null if what became of it was not the tool's doing.
  succeeded: boolean | null;
  // Whether it would have cost something.
  isPriced: boolean;
  durationMs: number;
};

// What became of calls: for metrics, and for what is known of their tools.
export type Observer = {
  called(call: ObservedCall): void;
  // An account owes something for what a tool has answered.
  paid(listing: Listing, account: Address, amount: MicroUsdc): void;
};

export type OpenedExecute = {
  executeOnce: ExecuteOnce;
  sessions: Sessions;
  // For calls that are not Execute's, which count for the tool too.
  observer: Observer;
  // What a process of this name had begun when it died is answered as failed. For the start, once the port is this one's.
  lapseOwn(): Promise<number>;
  // Tells the daemon what it has not heard yet. Returns how much is left.
  tellDue(): Promise<number>;
  // Writes down how tools did since the last time.
  writeCounts(): Promise<void>;
  forgetAnswers(): Promise<void>;
  // Resolves when nothing is being evicted any more.
  evicted(): Promise<void>;
};

// Answers are kept for longer than any client repeats a request.
const ANSWERS_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

export function openExecute(options: OpenExecuteOptions): OpenedExecute {
  const { store, clock, settlement, holder, sessionTtlMs, keysKeptMs, log, observeCall } = options;
  const sessions = createSessions(settlement, sessionTtlMs);
  const reporter = createReporter({ store, clock, settlement, log });
  let counts = new Map<string, CallCounts>();
  let payers = new Set<Address>();
  // Nobody makes a name for a tool by calling it oneself, which may cost nothing.
  function countOf({ toolId, owner }: Listing, account: Address): CallCounts | null {
    if (account === owner) return null;
    const known = counts.get(toolId) ?? { calls: 0, succeeded: 0, payers: new Map() };
    counts.set(toolId, known);
    return known;
  }
  function addToPayer({ payers }: CallCounts, account: Address, { paid, spent, failed }: PayerCounts): void {
    const known = payers.get(account) ?? { paid: 0, spent: 0n, failed: 0 };
    payers.set(account, {
      paid: known.paid + paid,
      spent: microUsdc(known.spent + spent),
      failed: known.failed + failed,
    });
  }
  const observer: Observer = {
    called({ listing, account, outcome, succeeded, isPriced, durationMs }) {
      observeCall(outcome, durationMs);
      const count = succeeded === null ? null : countOf(listing, account);
      if (count === null) return;
      count.calls += 1;
      if (succeeded) count.succeeded += 1;
      else if (isPriced) addToPayer(count, account, { paid: 0, spent: microUsdc(0n), failed: 1 });
    },
    paid(listing, account, amount) {
      payers.add(account);
      const count = countOf(listing, account);
      if (count !== null) addToPayer(count, account, { paid: 1, spent: amount, failed: 0 });
    },
  };
  const execute = createExecute({
    ...options,
    sessions,
    reporter,
    observer,
    linkedWallets: (account: Address) => walletsOf(store.read, account),
  });
  const isPayer = async (account: string) => payers.has(account as Address) || hasPaid(store.read, account);
  const { maxKeptBytes, maxFreeKeptBytes, maxTotalKeptBytes, observeEvicted } = options;
  const ofAccount = createQuota({
    maxBytes: Math.min(maxFreeKeptBytes, maxKeptBytes),
    maxBytesOf: async (account) => ((await isPayer(account)) ? maxKeptBytes : maxFreeKeptBytes),
    evict: (account, maxBytes) => store.alone((sql) => evictAnswers(sql, account, maxBytes)),
    log,
    observeEvicted: (evicted) => observeEvicted("account", evicted),
  });
  // Accounts are free, so that no bound on each of them bounds the disk.
  const ofAll = createQuota({
    maxBytes: maxTotalKeptBytes,
    async evict(_, maxBytes) {
      let evicted = 0;
      await inPieces(async (limit) => {
        const some = await store.alone((sql) => evictOldest(sql, maxBytes, limit));
        evicted += some;
        return some;
      });
      if (evicted > 0) {
        log.warn(
          { event: "room_short", evicted, maxBytes },
          "all the room for answers is taken; raise MARKETPLACE_TOTAL_KEPT_MEGABYTES, or look who takes it",
        );
      }
      return evicted;
    },
    log,
    observeEvicted: (evicted) => observeEvicted("total", evicted),
  });
  const quota = {
    kept(account: string, bytes: number) {
      ofAccount.kept(account, bytes);
      ofAll.kept("everybody", bytes);
    },
  };
  const keys = createKeyBound({
    store,
    clock,
    maxPerDay: options.maxFreeKeysPerDay,
    maxTotal: options.maxTotalFreeKeys,
    isPayer,
  });
  return {
    executeOnce: createExecuteOnce({ store, clock, execute, reporter, holder, quota, keys }),
    async evicted() {
      await Promise.all([ofAccount.idle(), ofAll.idle()]);
    },
    sessions,
    observer,
    lapseOwn: () => store.alone((sql) => lapseOwn(sql, holder, clock.nowMs())),
    async tellDue() {
      await reporter.tellDue();
      return countReports(store.read);
    },
    async writeCounts() {
      await keys.write();
      if (counts.size === 0 && payers.size === 0) return;
      const [written, paid] = [counts, payers];
      counts = new Map();
      payers = new Set();
      await store.alone(async (sql) => {
        await addCalls(sql, written);
        await notePaid(sql, paid);
      });
    },
    async forgetAnswers() {
      const nowMs = clock.nowMs();
      await inPieces((limit) => store.alone((sql) => forgetAnswers(sql, nowMs - ANSWERS_KEPT_MS, limit)));
      await inPieces((limit) => store.alone((sql) => forgetKeys(sql, nowMs - keysKeptMs, limit)));
      await inPieces((limit) => store.alone((sql) => forgetEvidence(sql, nowMs, limit)));
    },
  };
}

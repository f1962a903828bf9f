import type { FastifyBaseLogger } from "fastify";
import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { readPreferences } from "../accounts/preferences.ts";
import { createQuota } from "../database/createQuota.ts";
import type { Store } from "../database/openStore.ts";
import type { Catalogue } from "../discovery/createCatalogue.ts";
import type { McpClient } from "../mcp/createMcpClient.ts";
import { addCalls, type CallCounts } from "../registry/listings.ts";
import type { Judge } from "../schema/createJudge.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import { createExecute } from "./createExecute.ts";
import { createExecuteOnce, type ExecuteOnce } from "./createExecuteOnce.ts";
import { createReporter } from "./createReporter.ts";
import { createSessions, type Sessions } from "./createSessions.ts";
import { evictAnswers, forgetAnswers, lapseOwn } from "./executions.ts";
import type { ContextProviders } from "./injectContext.ts";
import { countReports } from "./unreported.ts";

export type OpenExecuteOptions = {
  store: Store;
  clock: Clock;
  catalogue: Catalogue;
  settlement: SettlementClient;
  mcp: McpClient;
  judge: Judge;
  sign: (request: { endpoint: string; toolId: string; payer: string }) => Promise<string>;
  providers: ContextProviders;
  publicUrl: string;
  holder: string;
  sessionTtlMs: number;
  // How much of the answers under Idempotency-Keys is kept for one account.
  maxKeptBytes: number;
  log: FastifyBaseLogger;
  observeCall: (outcome: string, durationMs: number) => void;
};

// What became of a call: for metrics, and for what is known of the tool. Null if it was nobody's doing.
export type ObserveCall = (toolId: string, outcome: string, succeeded: boolean | null, durationMs: number) => void;

export type OpenedExecute = {
  executeOnce: ExecuteOnce;
  sessions: Sessions;
  // For calls that are not Execute's, which count for the tool too.
  observe: ObserveCall;
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
const FORGET_AT_A_TIME = 1_000;

export function openExecute(options: OpenExecuteOptions): OpenedExecute {
  const { store, clock, settlement, holder, sessionTtlMs, log, observeCall } = options;
  const sessions = createSessions(settlement, sessionTtlMs);
  const reporter = createReporter({ store, clock, settlement, log });
  let counts = new Map<string, CallCounts>();
  const observe: ObserveCall = (toolId, outcome, succeeded, durationMs) => {
    observeCall(outcome, durationMs);
    if (succeeded === null) return;
    const { calls, succeeded: before } = counts.get(toolId) ?? { calls: 0, succeeded: 0 };
    counts.set(toolId, { calls: calls + 1, succeeded: before + (succeeded ? 1 : 0) });
  };
  const execute = createExecute({
    ...options,
    sessions,
    reporter,
    observe,
    linkedWallets: async (account: Address) => {
      const { linkedWallets } = await readPreferences(store.read, account);
      return [account, ...linkedWallets.map(({ wallet }) => wallet)];
    },
  });
  const quota = createQuota({
    maxBytes: options.maxKeptBytes,
    evict: (account, maxBytes) => store.alone((sql) => evictAnswers(sql, account, maxBytes)),
    log,
  });
  return {
    executeOnce: createExecuteOnce({ store, clock, execute, reporter, holder, quota }),
    evicted: quota.idle,
    sessions,
    observe,
    lapseOwn: () => store.alone((sql) => lapseOwn(sql, holder, clock.nowMs())),
    async tellDue() {
      await reporter.tellDue();
      return countReports(store.read);
    },
    async writeCounts() {
      if (counts.size === 0) return;
      const written = counts;
      counts = new Map();
      await store.alone((sql) => addCalls(sql, written));
    },
    async forgetAnswers() {
      await store.alone((sql) => forgetAnswers(sql, clock.nowMs() - ANSWERS_KEPT_MS, FORGET_AT_A_TIME));
    },
  };
}

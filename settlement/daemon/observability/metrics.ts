import { setTimeout as pause } from "node:timers/promises";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Chain } from "../../chain/chain.ts";
import type { EndpointObservation } from "../../chain/rpc/endpoints.ts";
import type { EndpointStanding } from "../../chain/rpc/survey.ts";
import type { Clock } from "../../clock.ts";
import type { MicroUsdc } from "../../domain/money.ts";
import type { EngineEvent } from "../../engine/context.ts";
import type { Ledger } from "../../ledger/ledger.ts";

export type Metrics = {
  contentType: string;
  print(): Promise<string>;
  observeRequest(method: string, path: string, status: number, durationMs: number): void;
  observeTick(durationMs: number): void;
  observeFailedTick(): void;
  observeEndpoint(observation: EndpointObservation): void;
  compareEndpoints(standings: readonly EndpointStanding[]): void;
  observeEvent(event: EngineEvent): void;
  // Where the stats are read from; before that, only what is observed is shown.
  readFrom(source: { ledger: Ledger; chain: Chain; operators: readonly string[] }): void;
};

// Counting what waits takes time that grows with it, so stats of the ledger are read this often at most.
const MAX_AGE_MS = 10_000;
// Less than who reads metrics waits for them.
const READ_TIMEOUT_MS = 3_000;
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const GAS_PER_CALL = [100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 200_000];

// Prometheus knows floating-point numbers only. Money is shown in micro-USDC, which stay exact up to nine billion dollars,
// and is for looking at: nothing is computed from it.
const shown = (amount: MicroUsdc | bigint) => Number(amount);

export function createMetrics(clock: Clock): Metrics {
  const registers = [new Registry()] as const;
  const [registry] = registers;
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `settlement_${name}`, help, labelNames, registers: [...registers] });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `settlement_${name}`, help, labelNames, registers: [...registers] });
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name: `settlement_${name}`, help, buckets, labelNames, registers: [...registers] });

  const requests = histogram("http_request_seconds", "Time to answer a request", SECONDS, ["method", "path", "status"]);
  const ticks = histogram("tick_seconds", "Time of a tick of settlement", SECONDS);
  const failedTicks = counter("ticks_failed_total", "Ticks of settlement that threw");
  const rpc = histogram("rpc_seconds", "Time of a question to an RPC endpoint", SECONDS, ["endpoint", "method"]);
  const rpcErrors = counter("rpc_errors_total", "Questions to an RPC endpoint without an answer", [
    "endpoint",
    "outcome",
  ]);
  const endpointHead = gauge("endpoint_head_block", "The newest block that an RPC endpoint names", ["endpoint"]);
  const endpointFresh = gauge("endpoint_fresh", "0 while an RPC endpoint is behind, contradicts others or is silent", [
    "endpoint",
  ]);
  const events = counter("events_total", "What the engine reported", ["kind"]);
  const sends = counter("sends_total", "What nodes said to signed bytes; unknown may or may not be on its way", [
    "outcome",
  ]);
  const overloaded = gauge("overloaded", "1 while new turns and calls are refused because settlement does not keep up");
  const gasPerCall = histogram("gas_per_call", "Gas of a batch divided by its charges", GAS_PER_CALL);

  const ledgerUp = gauge("ledger_up", "0 while the ledger does not answer; what it said last is shown meanwhile");
  const money = gauge("micro_usdc", "All charges by state, in micro-USDC", ["state"]);
  const accruals = gauge("waiting_charges", "Charges that wait for a batch");
  const accruedAmount = gauge("waiting_micro_usdc", "What waits for a batch, in micro-USDC");
  const accruedAge = gauge("waiting_oldest_seconds", "How long the oldest due charge has been due");
  const holds = gauge("holds", "Calls and questions that are running");
  const heldAmount = gauge("held_micro_usdc", "What running calls and questions have reserved, in micro-USDC");
  const sessions = gauge("open_sessions", "Sessions that are open");
  const submissions = gauge("submissions", "Transactions on their way, by kind and state", ["kind", "state"]);
  const submissionAge = gauge("submission_oldest_seconds", "Age of the oldest transaction on its way", [
    "kind",
    "state",
  ]);
  const failures = gauge("failed_attempts", "How often payers could not pay, by reason", ["reason"]);
  const debt = gauge("debt_micro_usdc", "What payers owe to the platform, in micro-USDC");
  const owed = gauge("owed_micro_usdc", "What payers owe to developers and nobody absorbs, in micro-USDC");
  const contests = gauge("open_contests", "Rows that somebody demands receipts for, and whose end is not final");
  const contestedAmount = gauge("contested_micro_usdc", "What was charged for such rows, in micro-USDC");
  const drift = gauge("drift", "1 while settlement is halted because ledger and chain differ or a person must look");
  const balance = gauge("operator_wei", "Ether of an operator, in wei", ["operator"]);
  const insurance = gauge("insurance_micro_usdc", "What the insurance account can still pay, in micro-USDC");

  let source: Parameters<Metrics["readFrom"]>[0] | undefined;
  let lastReadAtMs = Number.NEGATIVE_INFINITY;

  async function readLedger(ledger: Ledger): Promise<void> {
    const [totals, gauges, halted] = await Promise.all([ledger.readTotals(), ledger.readGauges(), ledger.readHalt()]);
    for (const [state, amount] of Object.entries(totals)) money.set({ state }, shown(amount));
    const secondsSince = (ms: number | null) => (ms === null ? 0 : Math.max(0, (clock.nowMs() - ms) / 1_000));
    accruals.set(gauges.accrued.count);
    accruedAmount.set(shown(gauges.accrued.amount));
    accruedAge.set(secondsSince(gauges.accrued.oldestDueAtMs));
    holds.set(gauges.holds.count);
    heldAmount.set(shown(gauges.holds.amount));
    sessions.set(gauges.openSessions);
    submissions.reset();
    submissionAge.reset();
    for (const { kind, state, count, oldestCreatedAtMs } of gauges.submissions) {
      submissions.set({ kind, state }, count);
      submissionAge.set({ kind, state }, secondsSince(oldestCreatedAtMs));
    }
    for (const { reason, count } of gauges.failures) failures.set({ reason }, count);
    debt.set(shown(gauges.debt));
    owed.set(shown(gauges.owed));
    contests.set(gauges.contests.count);
    contestedAmount.set(shown(gauges.contests.amount));
    drift.set(halted === null ? 0 : 1);
  }

  async function readChain(chain: Chain, operators: readonly string[]): Promise<void> {
    for (const operator of operators) balance.set({ operator }, Number(await chain.balance(operator as `0x${string}`)));
    const [spendable] = await chain.spendable([chain.insurance]);
    if (spendable !== undefined) insurance.set(shown(spendable.amount));
  }

  async function observeGas(batchId: `0x${string}`, gasUsed: bigint): Promise<void> {
    const batch = await source?.ledger.findBatch(batchId);
    if (batch) gasPerCall.observe(Number(gasUsed) / Math.max(1, batch.charges));
  }

  return {
    contentType: registry.contentType,
    async print() {
      const nowMs = clock.nowMs();
      if (source !== undefined && (nowMs - lastReadAtMs >= MAX_AGE_MS || nowMs < lastReadAtMs)) {
        lastReadAtMs = nowMs;
        // That one of them does not answer is no reason to hide everything else: it is when the rest is looked at.
        ledgerUp.set((await answersInTime(readLedger(source.ledger))) ? 1 : 0);
        await answersInTime(readChain(source.chain, source.operators));
      }
      return registry.metrics();
    },
    observeRequest(method, path, status, durationMs) {
      requests.observe({ method, path, status }, durationMs / 1_000);
    },
    observeTick: (durationMs) => ticks.observe(durationMs / 1_000),
    observeFailedTick: () => failedTicks.inc(),
    observeEndpoint({ endpoint, method, durationMs, outcome }) {
      rpc.observe({ endpoint, method }, durationMs / 1_000);
      if (outcome !== "ok") rpcErrors.inc({ endpoint, outcome });
    },
    compareEndpoints(standings) {
      for (const { endpoint, standing, head } of standings) {
        endpointFresh.set({ endpoint }, standing.kind === "fresh" ? 1 : 0);
        if (head !== null) endpointHead.set({ endpoint }, Number(head.number));
      }
    },
    observeEvent(event) {
      events.inc({ kind: event.kind });
      if (event.kind === "overloaded" || event.kind === "admitting")
        overloaded.set(event.kind === "overloaded" ? 1 : 0);
      if (event.kind === "sent") sends.inc({ outcome: event.outcome });
      // What cannot be read now is left out.
      if (event.kind === "included") void observeGas(event.id, event.gasUsed).catch(() => undefined);
    },
    readFrom(from) {
      source = from;
    },
  };
}

async function answersInTime(reading: Promise<void>): Promise<boolean> {
  const late = new AbortController();
  const inTime = reading.then(
    () => true,
    () => false,
  );
  const timeout = pause(READ_TIMEOUT_MS, false, { ref: false, signal: late.signal }).catch(() => false);
  try {
    return await Promise.race([inTime, timeout]);
  } finally {
    late.abort();
  }
}

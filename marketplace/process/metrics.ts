import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MicroUsdc } from "../../settlement/domain/money.ts";

export type MarketMetrics = {
  contentType: string;
  print(): Promise<string>;
  observeRequest(method: string, path: string, status: number, durationMs: number): void;
  // What became of a call of a tool: delivered, mismatched, or the code of its refusal.
  observeCall(outcome: string, durationMs: number): void;
  // What became of a question: answered, a miss, or failed.
  observeTurn(outcome: string, durationMs: number): void;
  // Answers that were forgotten before their time, for want of room of their account's or of everybody's.
  observeEvicted(room: "account" | "total", answers: number): void;
  // What a model has cost for a question that nobody pays for.
  observeUnpaid(cost: MicroUsdc): void;
  observePings(answered: number, failed: number): void;
  // `waiting`: offered, and not searched for want of a place.
  setListings(listings: { active: number; waiting: number; delisted: number }): void;
  setUnreported(count: number): void;
  setUnrecordedTurns(count: number): void;
};

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMarketMetrics(): MarketMetrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: "marketplace_http_request_seconds",
    help: "Time to answer a request",
    buckets: SECONDS,
    labelNames: ["method", "path", "status"],
    registers,
  });
  const calls = new Histogram({
    name: "marketplace_call_seconds",
    help: "Time of a call of a tool, from the hold to the answer, by what became of it",
    buckets: SECONDS,
    labelNames: ["outcome"],
    registers,
  });
  const turns = new Histogram({
    name: "marketplace_turn_seconds",
    help: "Time of a question, from when it is begun to its end, by what became of it",
    buckets: SECONDS,
    labelNames: ["outcome"],
    registers,
  });
  const evicted = new Counter({
    name: "marketplace_answers_evicted_total",
    help: "Kept answers that were forgotten before their time, by whose room was short: the account's or the total",
    labelNames: ["room"],
    registers,
  });
  const unpaid = new Counter({
    name: "marketplace_unpaid_model_usd_total",
    help: "What models have cost for questions that nobody pays for, in US dollars",
    registers,
  });
  const pings = new Counter({
    name: "marketplace_pings_total",
    help: "Pings of listed tools",
    labelNames: ["outcome"],
    registers,
  });
  const listings = new Gauge({
    name: "marketplace_listings",
    help: "Listings by status",
    labelNames: ["status"],
    registers,
  });
  const unreported = new Gauge({
    name: "marketplace_unreported_calls",
    help: "Calls that the settlement daemon has not heard of yet because it was away",
    registers,
  });
  const unrecorded = new Gauge({
    name: "marketplace_unrecorded_turns",
    help: "Turns that were delivered and that the settlement daemon has not heard of yet",
    registers,
  });
  return {
    contentType: registry.contentType,
    print: () => registry.metrics(),
    observeRequest: (method, path, status, durationMs) =>
      requests.observe({ method, path, status }, durationMs / 1_000),
    observeCall: (outcome, durationMs) => calls.observe({ outcome }, durationMs / 1_000),
    observeTurn: (outcome, durationMs) => turns.observe({ outcome }, durationMs / 1_000),
    observeEvicted: (room, answers) => evicted.inc({ room }, answers),
    // For a graph, in which a rounded micro-USDC is not seen.
    observeUnpaid: (cost) => unpaid.inc(Number(cost) / 1_000_000),
    observePings(answered, failed) {
      pings.inc({ outcome: "answered" }, answered);
      pings.inc({ outcome: "failed" }, failed);
    },
    setListings(counts) {
      for (const [status, count] of Object.entries(counts)) listings.set({ status }, count);
    },
    setUnreported: (count) => unreported.set(count),
    setUnrecordedTurns: (count) => unrecorded.set(count),
  };
}

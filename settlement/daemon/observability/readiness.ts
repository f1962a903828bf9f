import type { Chain } from "../../chain/chain.ts";
import type { Clock } from "../../clock.ts";
import type { Engine } from "../../engine/createEngine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Component, ReadinessReport } from "../../views/service/readiness.ts";

export type Readiness = () => Promise<ReadinessReport>;

export type LoopState = {
  startedAtMs: number;
  lastDoneAtMs: number | null;
  // How many ticks have failed since one has not.
  failures: number;
  lastError: string | null;
};

export type ReadinessOptions = {
  ledger: Ledger;
  chain: Chain;
  engine: Engine;
  clock: Clock;
  loop: () => LoopState;
  minOperatorWei: bigint;
  // How long an answer is good for: whoever asks often must not load the chain.
  maxAgeMs?: number;
  timeoutMs?: number;
};

const ANSWER_MAX_AGE_MS = 2_000;
const CHECK_TIMEOUT_MS = 3_000;
// A tick with several confirmations and retries on a slow endpoint takes a while.
const MAX_TICK_AGE_MS = 60_000;
const MAX_HEAD_AGE_MS = 5 * 60_000;

// Whether this process can do its work, with a reason for each part that it needs. Accruing needs the ledger only; the
// rest being down makes charges wait and loses nothing.
export function createReadiness(options: ReadinessOptions): Readiness {
  const { clock, maxAgeMs = ANSWER_MAX_AGE_MS } = options;
  let last: { report: Promise<ReadinessReport>; atMs: number } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    if (last === undefined || nowMs - last.atMs >= maxAgeMs || nowMs < last.atMs) {
      last = { report: check(options), atMs: nowMs };
    }
    return last.report;
  };
}

async function check(options: ReadinessOptions): Promise<ReadinessReport> {
  const { timeoutMs = CHECK_TIMEOUT_MS } = options;
  const checks = {
    ledger: () => checkLedger(options),
    chain: () => checkChain(options),
    operators: () => checkOperators(options),
    settlement: () => checkSettlement(options),
    loop: async () => checkLoop(options),
  };
  const entries = await Promise.all(
    Object.entries(checks).map(async ([name, run]) => [name, await within(timeoutMs, run)] as const),
  );
  const components = Object.fromEntries(entries) as ReadinessReport["components"];
  return { ready: entries.every(([, { ok }]) => ok), components };
}

async function checkLedger({ ledger }: ReadinessOptions): Promise<Component> {
  await ledger.findSession("");
  return { ok: true, reason: "it answers" };
}

async function checkChain({ chain, clock }: ReadinessOptions): Promise<Component> {
  const head = await chain.head();
  const ageMs = clock.nowMs() - head.timestampMs;
  if (ageMs > MAX_HEAD_AGE_MS) return { ok: false, reason: `its head is ${Math.round(ageMs / 1_000)} s old` };
  return { ok: true, reason: `its head is block ${head.number}` };
}

async function checkOperators({ chain, engine, minOperatorWei }: ReadinessOptions): Promise<Component> {
  if (engine.operators.length === 0) return { ok: false, reason: "no operator key is configured" };
  const balances = await Promise.all(engine.operators.map((operator) => chain.balance(operator)));
  const poor = engine.operators.filter((_, i) => (balances[i] ?? 0n) < minOperatorWei);
  if (poor.length > 0) return { ok: false, reason: `too little ether for gas: ${poor.join(", ")}` };
  return { ok: true, reason: "they have gas" };
}

async function checkSettlement({ ledger, chain }: ReadinessOptions): Promise<Component> {
  const halted = await ledger.readHalt();
  if (halted !== null) return { ok: false, reason: `halted: ${halted.reason}` };
  const availability = await chain.availability();
  if (availability.kind === "unavailable") return { ok: false, reason: `holding: ${availability.reason}` };
  return { ok: true, reason: "it goes on" };
}

function checkLoop({ loop, clock }: ReadinessOptions): Component {
  const { lastError, lastDoneAtMs, startedAtMs } = loop();
  if (lastError !== null) return { ok: false, reason: `the last tick failed: ${lastError}` };
  const ageMs = clock.nowMs() - (lastDoneAtMs ?? startedAtMs);
  if (ageMs > MAX_TICK_AGE_MS) return { ok: false, reason: `no tick has ended for ${Math.round(ageMs / 1_000)} s` };
  return { ok: true, reason: lastDoneAtMs === null ? "the first tick is running" : "ticks end" };
}

async function within(timeoutMs: number, run: () => Promise<Component>): Promise<Component> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Component>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, reason: `no answer within ${timeoutMs} ms` }), timeoutMs);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : "it failed" };
  } finally {
    clearTimeout(timer);
  }
}

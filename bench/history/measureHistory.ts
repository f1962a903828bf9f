import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { NO_HASH } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { DEFAULT_POLICY } from "../../settlement/engine/policy.ts";
import type { Ledger } from "../../settlement/ledger/ledger.ts";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import { DAY_MS, FILLED_AT_MS, fillLedger, leaseOfBench, planNext } from "../ledger/fillLedger.ts";

const SMALL = 10_000;
const MIDDLE = 100_000;
const LARGE = 1_000_000;
// What is filled at a time, so that sessions and turns have different names.
const PART = 10_000;
const BACKLOG = 10_000;
const RUNS = 5;
const NOW_MS = FILLED_AT_MS + 2 * DAY_MS;

type Point = Awaited<ReturnType<typeof measure>>;

// What every call, tick and page does, beside a short history and a long one, with the same backlog; and how long the event loop was
// held up meanwhile, in which nobody else is served. All charges are still in the ledger: an archive would make it shorter.
export async function measureHistory({ large }: { large: boolean }) {
  const points: Point[] = [];
  for (const charges of large ? [SMALL, LARGE] : [SMALL, MIDDLE]) {
    console.error(`a history of ${charges} charges …`);
    points.push(await measure(charges));
  }
  return { points };
}

async function measure(charges: number) {
  const folder = mkdtempSync(join(tmpdir(), "bench-history-"));
  const path = join(folder, "ledger.db");
  try {
    const filled = await openLedger(path);
    for (let from = 0; from < charges; from += PART) await fillLedger(filled, Math.min(PART, charges - from), from);
    await accrue(filled, BACKLOG);
    await filled.close();

    const opened = await timed(() => openLedger(path));
    const ledger = opened.result;
    try {
      const lease = await leaseOfBench(ledger);
      const duePayers = await median(() => ledger.listDuePayers(NOW_MS, DEFAULT_POLICY.bounds.maxRows));
      const gauges = await median(() => Promise.all([ledger.readGauges(), ledger.readTotals()]));
      const unknown = await median(() => ledger.findCharge(`0x${randomBytes(32).toString("hex")}` as Hex));
      const beside = accrueBeside(ledger);
      const audit = await timed(() => ledger.audit());
      const longestAccrualMs = await beside.stop();
      if (audit.result.length > 0) throw new Error(audit.result.join("; "));
      const planned = await timed(() => planNext(ledger, lease, NOW_MS, 1));
      return {
        charges,
        openMs: round(opened.ms),
        openBlockedMs: round(opened.blockedMs),
        duePayersMs: round(duePayers),
        gaugesMs: round(gauges),
        unknownChargeMs: round(unknown),
        auditMs: round(audit.ms),
        auditBlockedMs: round(audit.blockedMs),
        accrualBesideAuditMs: round(longestAccrualMs),
        planBatchMs: round(planned.ms),
        planBatchBlockedMs: round(planned.blockedMs),
      };
    } finally {
      await ledger.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function accrue(ledger: Ledger, turns: number): Promise<void> {
  for (let i = 0; i < turns; i += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, turns - i) }, (_, n) => record(ledger, `backlog ${i + n}`, n)),
    );
  }
}

// One caller who waits for each commit before it reports the next.
function accrueBeside(ledger: Ledger): { stop(): Promise<number> } {
  let stopped = false;
  let longestMs = 0;
  const running = (async () => {
    for (let i = 0; !stopped; i++) {
      const startedAt = performance.now();
      await record(ledger, `beside ${i}`, i);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return longestMs;
    },
  };
}

async function record(ledger: Ledger, id: string, n: number): Promise<void> {
  await ledger.recordTurn(
    {
      id,
      payer: `0x${(2_000 + (n % 100)).toString(16).padStart(40, "0")}`,
      outcome: "delivered",
      modelCost: microUsdc(0n),
      tools: [{ toolId: `0x${"1".padStart(32, "0")}` as ToolId, amount: microUsdc(1_000n), calls: 1 }],
      requestHash: NO_HASH,
      responseHash: NO_HASH,
    },
    NOW_MS - 1,
  );
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) times.push((await timed(work)).ms);
  return times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}

// How long it took, and for how long at a time nothing else could run.
async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number; blockedMs: number }> {
  let blockedMs = 0;
  let lastAt = performance.now();
  let stopped = false;
  const look = () => {
    blockedMs = Math.max(blockedMs, performance.now() - lastAt);
    lastAt = performance.now();
    if (!stopped) setImmediate(look);
  };
  setImmediate(look);
  const startedAt = performance.now();
  const result = await work();
  const ms = performance.now() - startedAt;
  await new Promise((resolve) => setImmediate(resolve));
  stopped = true;
  return { result, ms, blockedMs };
}

const round = (value: number) => Math.round(value * 10) / 10;

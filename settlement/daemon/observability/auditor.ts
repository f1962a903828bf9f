import type { Clock } from "../../clock.ts";
import type { Engine } from "../../engine/createEngine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { AuditReport } from "../../views/service/audit.ts";

export type Auditor = {
  // What was found last; null before the first audit of this process.
  last(): AuditReport | null;
  runningSinceMs(): number | null;
  // Begins an audit, unless one is running or has only just ended.
  start(): void;
};

export type AuditorOptions = {
  engine: Pick<Engine, "audit">;
  ledger: Pick<Ledger, "audit">;
  clock: Clock;
  fromBlock: bigint;
  // Reading the whole chain again is expensive, and whoever may ask may ask often.
  minPauseMs?: number;
};

const MIN_PAUSE_MS = 10_000;

// One audit at a time, beside everything else: it can take longer than a request may.
export function createAuditor(options: AuditorOptions): Auditor {
  const { engine, ledger, clock, fromBlock, minPauseMs = MIN_PAUSE_MS } = options;
  let last: AuditReport | null = null;
  let running: number | null = null;

  async function run(startedAtMs: number): Promise<void> {
    const report = { startedAtMs, batches: null, differences: [] as string[], failure: null };
    const durationMs = () => Math.max(0, clock.nowMs() - startedAtMs);
    try {
      const counters = await ledger.audit();
      const found = await engine.audit(fromBlock);
      const differences = [...counters, ...(found.kind === "different" ? found.differences : [])];
      const batches = found.kind === "equal" ? found.batches : null;
      last = { ...report, batches, differences, durationMs: durationMs() };
    } catch (error) {
      const failure = error instanceof Error ? error.message : "it failed";
      last = { ...report, failure, durationMs: durationMs() };
    } finally {
      running = null;
    }
  }

  return {
    last: () => last,
    runningSinceMs: () => running,
    start() {
      const nowMs = clock.nowMs();
      if (running !== null) return;
      if (last !== null && nowMs - (last.startedAtMs + last.durationMs) < minPauseMs) return;
      running = nowMs;
      void run(nowMs);
    },
  };
}

import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../clock.ts";
import type { LoopState } from "../observability/readiness.ts";

export type LoopOptions = {
  tick: () => Promise<void>;
  everyMs: number;
  clock: Clock;
  log: FastifyBaseLogger;
  onFailure?: (error: unknown) => void;
  onDone?: (durationMs: number) => void;
};

export type Loop = {
  state(): LoopState;
  // Resolves when the running tick has ended; no other begins.
  stop(): Promise<void>;
};

const MAX_WAIT_MS = 30_000;
const MAX_DOUBLINGS = 10;

// One tick of settlement after the other, never two at a time. A tick that throws is tried again after a wait that
// doubles: whatever it had saved is in the ledger, and the next tick goes on from there.
export function runLoop({ tick, everyMs, clock, log, onFailure, onDone }: LoopOptions): Loop {
  const state: LoopState = { startedAtMs: clock.nowMs(), lastDoneAtMs: null, failures: 0, lastError: null };
  let stopped = false;
  let wake = () => {};

  async function runTick(): Promise<void> {
    const startedAtMs = clock.nowMs();
    try {
      await tick();
      state.failures = 0;
      state.lastError = null;
      state.lastDoneAtMs = clock.nowMs();
      onDone?.(Math.max(0, state.lastDoneAtMs - startedAtMs));
    } catch (error) {
      state.failures += 1;
      state.lastError = error instanceof Error ? error.message : String(error);
      log.error({ event: "tick_failed", err: error, failures: state.failures }, "tick failed");
      onFailure?.(error);
    }
  }

  function wait(): Promise<void> {
    const backoffMs = everyMs * 2 ** Math.min(state.failures, MAX_DOUBLINGS);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(backoffMs, Math.max(MAX_WAIT_MS, everyMs)));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const ended = (async () => {
    while (!stopped) {
      await runTick();
      if (!stopped) await wait();
    }
  })();

  return {
    state: () => ({ ...state }),
    async stop() {
      stopped = true;
      wake();
      await ended;
    },
  };
}

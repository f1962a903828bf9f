import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../clock.ts";

export type LoopState = {
  startedAtMs: number;
  lastDoneAtMs: number | null;
  // How many rounds have failed since one has not.
  failures: number;
  lastError: string | null;
};

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
  // Resolves when the running round has ended; no other begins.
  stop(): Promise<void>;
};

const MAX_WAIT_MS = 30_000;
const MAX_DOUBLINGS = 10;

// One round of settlement after the other, never two at a time. A round that throws is tried again after a wait that
// doubles: whatever it had saved is in the ledger, and the next round goes on from there.
export function runLoop({ tick, everyMs, clock, log, onFailure, onDone }: LoopOptions): Loop {
  const state: LoopState = { startedAtMs: clock.nowMs(), lastDoneAtMs: null, failures: 0, lastError: null };
  let stopped = false;
  let wake = () => {};

  async function round(): Promise<void> {
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
      log.error({ event: "round_failed", err: error, failures: state.failures }, "round failed");
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
      await round();
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

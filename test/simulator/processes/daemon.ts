import type { Address } from "viem";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { createEngine } from "../../../settlement/engine/createEngine.ts";
import { createEngineContext, type Surroundings } from "./engineContext.ts";
import type { Actor } from "./scheduler.ts";

// A process that settles. It can be killed, and is then started again in its next generation.
export type Daemon = {
  name: string;
  generation: number;
  actor: Actor;
  tick: () => Promise<void>;
  archive: () => Promise<unknown>;
  busy: boolean;
  archiving: boolean;
  clockOffsetMs: number;
};

export function startDaemon(
  surroundings: Surroundings,
  name: string,
  generation: number,
  keys: readonly Address[],
): Daemon {
  const actor: Actor = { name, alive: true, spared: false, frozenUntilMs: 0 };
  const idle = { busy: false, archiving: false, clockOffsetMs: 0 };
  const daemon: Daemon = { name, generation, actor, ...idle, tick: async () => {}, archive: async () => {} };
  // A process that is started again may have its old name or another one.
  const holder = surroundings.rng.happens(0.5) ? name : `${name}, ${generation}`;
  const context = createEngineContext(surroundings, actor, holder, () => daemon.clockOffsetMs, keys);
  const engine = createEngine(context, () => Promise.reject(new RangeError("a daemon asks for nobody")));
  daemon.tick = engine.tick;
  daemon.archive = () => engine.archive({ breathe: async () => {} });
  return daemon;
}

// Begins a tick and does not wait for it. Only an error that will not pass by itself is told.
export function beginTick(daemon: Daemon, failed: (error: unknown) => void): void {
  daemon.busy = true;
  daemon.tick().then(
    () => {
      daemon.busy = false;
    },
    (error: unknown) => {
      daemon.busy = false;
      if (!daemon.actor.alive || (error instanceof SettlementError && error.retryable)) return;
      failed(error);
    },
  );
}

// Likewise. A file that is gone with a ledger that was taken back is nothing to tell.
export function beginArchive(daemon: Daemon, failed: (error: unknown) => void): void {
  daemon.archiving = true;
  daemon.archive().then(
    () => {
      daemon.archiving = false;
    },
    (error: unknown) => {
      daemon.archiving = false;
      if (!daemon.actor.alive) return;
      if (error instanceof SettlementError && (error.retryable || error.code === "invalid_input")) return;
      failed(error);
    },
  );
}

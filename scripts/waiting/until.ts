import { setTimeout as pause } from "node:timers/promises";

// How long anything that is waited for may take at the most, on the slowest machine. It is no measure of how long it should:
// what must be quick is measured by the benchmarks.
export const PATIENCE_MS = 120_000;

// Most of what is waited for has happened after a moment, so the first looks come quickly. What takes long is looked for as
// seldom as it may come a twentieth later, because a look takes time of whoever else is waited for.
const FIRST_LOOK_MS = 1;
const LOOK_EVERY_MS = 20;
const LOOKS_PER_WAIT = 20;
const MAX_PAUSE_MS = 500;

// The same for vitest's `expect.poll`.
export const PATIENTLY = { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS };

// Waits until something is so. `what` says what was waited for in vain. A look that throws is a look in vain.
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const startMs = performance.now();
  let lastError: unknown;
  for (let waitMs = FIRST_LOOK_MS; ; ) {
    signal?.throwIfAborted();
    try {
      const found = await look();
      if (found) return found as NonNullable<Exclude<T, false>>;
    } catch (error) {
      lastError = error;
    }
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= PATIENCE_MS) {
      throw new Error(`waited ${PATIENCE_MS / 1_000} s in vain for ${what}`, { cause: lastError });
    }
    await pause(waitMs, undefined, { signal });
    waitMs = Math.min(2 * waitMs, Math.max(LOOK_EVERY_MS, waitedMs / LOOKS_PER_WAIT), MAX_PAUSE_MS);
  }
}

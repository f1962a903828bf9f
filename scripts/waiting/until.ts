import { setTimeout as pause } from "node:timers/promises";

// How long anything that is waited for may take at the most, on the slowest machine. It is no measure of how long it should:
// what must be quick is measured by the benchmarks.
export const PATIENCE_MS = 120_000;

// Most of what is waited for has happened after a moment, so the first looks come quickly.
const FIRST_LOOK_MS = 1;
const LOOK_EVERY_MS = 20;

// The same for vitest's `expect.poll`.
export const PATIENTLY = { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS };

// Waits until something is so. `what` says what was waited for in vain. A look that throws is a look in vain.
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const endMs = performance.now() + PATIENCE_MS;
  let lastError: unknown;
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(2 * waitMs, LOOK_EVERY_MS)) {
    signal?.throwIfAborted();
    try {
      const found = await look();
      if (found) return found as NonNullable<Exclude<T, false>>;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= endMs) {
      throw new Error(`waited ${PATIENCE_MS / 1_000} s in vain for ${what}`, { cause: lastError });
    }
    await pause(waitMs, undefined, { signal });
  }
}

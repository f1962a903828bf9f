import { setTimeout as pause } from "node:timers/promises";

const TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 20;

// Waits until something is so. `what` says what was waited for in vain.
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const endMs = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found) return found as NonNullable<Exclude<T, false>>;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() >= endMs) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: lastError });
    }
    await pause(LOOK_EVERY_MS);
  }
}

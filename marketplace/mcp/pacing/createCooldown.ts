// How long is waited between two calls because of how earlier ones went.
export type Cooldown = {
  ms(): number;
  // Twice as long as now, or as what is kept in any case.
  slow(baselineMs: number): void;
  // Half of it, once that many calls in a row went well.
  relax(): void;
};

// A method that pushes back is left alone for twice as long each time, and comes back by halves.
const FIRST_COOLDOWN_MS = 500;
const MAX_COOLDOWN_MS = 30_000;
const SUCCESSES_TO_RELAX = 5;

export function createCooldown(): Cooldown {
  let cooldownMs = 0;
  let successes = 0;
  return {
    ms: () => cooldownMs,
    slow(baselineMs) {
      successes = 0;
      cooldownMs = Math.min(MAX_COOLDOWN_MS, Math.max(FIRST_COOLDOWN_MS, 2 * Math.max(baselineMs, cooldownMs)));
    },
    relax() {
      successes += 1;
      if (successes < SUCCESSES_TO_RELAX) return;
      successes = 0;
      cooldownMs = cooldownMs / 2 < FIRST_COOLDOWN_MS / 2 ? 0 : cooldownMs / 2;
    },
  };
}

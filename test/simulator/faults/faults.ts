import type { Rng } from "../rng.ts";

// Decides when something goes wrong, and counts it. After `stop` nothing does any more.
export type Faults = {
  strike(name: string, probability: number): boolean;
  stop(): void;
  stopped(): boolean;
  counts: ReadonlyMap<string, number>;
  trace(line: string): void;
};

// Some runs are calm and some are wild, and each is troubled by faults of its own choice: a mix in which everything
// happens all the time never gets far enough for the rare ones.
const INTENSITIES = [0.3, 1, 1, 2.5];
const CHOSEN = 0.6;

export function createFaults(rng: Rng, trace: (line: string) => void, enabled = true): Faults {
  const counts = new Map<string, number>();
  const chosen = new Map<string, boolean>();
  const intensity = rng.pick(INTENSITIES);
  let active = enabled;
  return {
    counts,
    trace,
    stopped: () => !active,
    stop() {
      active = false;
    },
    strike(name, probability) {
      if (!active) return false;
      let may = chosen.get(name);
      if (may === undefined) {
        may = rng.happens(CHOSEN);
        chosen.set(name, may);
      }
      if (!may || !rng.happens(probability * intensity)) return false;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      trace(`fault ${name}`);
      return true;
    },
  };
}

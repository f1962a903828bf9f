import type { Address } from "viem";
import type { Rng } from "./rng.ts";
import type { Scenario } from "./scenario.ts";

// How the people and machines around a run behave, beyond what its scenario says.
export type Habits = {
  // The chain undoes blocks that it had called final, once or twice.
  unfaithful: boolean;
  // Some charges are above what any operator may ever move. They are reported, and nobody else waits for them.
  narrow: boolean;
  // Which keys each daemon has. Some have a part of them only; every key is somebody's.
  keysOf: (daemon: number) => readonly Address[];
  // Whether the person who reconciles waits until something has halted.
  impatient: boolean;
  // A key that every process loses in this step, for good; null in most runs. The guardian suspends it then.
  lost: { operator: Address; atStep: number } | null;
};

// What is lost is drawn apart, so that runs in which nothing is go as they always did.
export function habitsOf(rng: Rng, losses: Rng, { operators, handover, tight }: Scenario): Habits {
  const partial = rng.happens(0.35);
  const keys = new Map<number, readonly Address[]>();
  return {
    unfaithful: !handover && !tight && rng.happens(0.14),
    narrow: !handover && !tight && rng.happens(0.08),
    impatient: rng.happens(0.3),
    lost:
      operators.length > 1 && !handover && losses.happens(0.12)
        ? { operator: losses.pick(operators), atStep: losses.between(8, 40) }
        : null,
    keysOf(daemon) {
      const known = keys.get(daemon);
      if (known !== undefined) return known;
      const some = rng.shuffled(operators).slice(0, rng.between(1, operators.length));
      // The first has whatever the others may not have.
      const own = partial && daemon > 0 ? some : operators;
      keys.set(daemon, own);
      return own;
    },
  };
}

import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";
import { ALL_SITUATIONS, type Situation } from "./situations.ts";

// Seeds that broke a law when they were found, what they found, and what it takes to find it. test/mutation can put each of
// those bugs back.
const corpus = JSON.parse(readFileSync(new URL("./corpus.json", import.meta.url), "utf8")) as {
  seed: number;
  found: string;
  reaches: string;
}[];

const MAX_TRIES = 100;
const SEEDS = 300;
const CHUNK = 50;
const TIMEOUT_MS = 240_000;

describe("the engine on a simulated chain", () => {
  const reachedByAny = new Set<Situation>();
  let seedsRun = 0;

  // Laws that are kept because nothing happened are worth nothing.
  afterAll(() => {
    if (seedsRun === SEEDS) expect([...reachedByAny].sort()).toEqual(ALL_SITUATIONS.toSorted());
  });

  it("settles everything when nothing goes wrong", async () => {
    const run = await simulate(1, { faults: false });
    expect(run.violations).toEqual([]);
    expect(run.faultsInjected).toBe(0);
  });

  it("goes the same way for the same seed", async () => {
    const [first, second] = [await simulate(7, { trace: true }), await simulate(7, { trace: true })];
    expect(first.faultsInjected).toBeGreaterThan(0);
    expect(second).toEqual(first);
  });

  // A seed goes another way as soon as the simulator or the engine draws one number more. Then the seeds after it are run
  // until one gets as far again.
  it.each(corpus)("keeps every law from seed $seed on, which found that $found", async ({ seed, reaches }) => {
    for (let tried = seed; tried < seed + MAX_TRIES; tried++) {
      const { violations, reached, faults } = await simulate(tried);
      expect(violations, `npm run sim -- --seed ${tried}`).toEqual([]);
      if ([...reached, ...Object.keys(faults)].includes(reaches)) return;
    }
    expect.fail(`None of ${MAX_TRIES} seeds from ${seed} on gets as far as: ${reaches}. Find one that does.`);
  });

  it.each(Array.from({ length: SEEDS / CHUNK }, (_, i) => [1 + i * CHUNK, (i + 1) * CHUNK]))(
    "keeps every law with the seeds from %i to %i",
    { timeout: TIMEOUT_MS },
    async (from, to) => {
      for (let seed = from ?? 1; seed <= (to ?? 0); seed++) {
        const { violations, reached } = await simulate(seed);
        seedsRun += 1;
        for (const situation of reached) reachedByAny.add(situation);
        expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
      }
    },
  );
});

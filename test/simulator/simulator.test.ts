import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.ts";

// Seeds that once broke a law, and what they found.
const corpus = JSON.parse(readFileSync(new URL("./corpus.json", import.meta.url), "utf8")) as {
  seed: number;
  found: string;
}[];

const SEEDS = 300;
const CHUNK = 50;
const TIMEOUT_MS = 240_000;

describe("the engine on a simulated chain", () => {
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

  it.each(corpus)("keeps every law with seed $seed, which found that $found", async ({ seed }) => {
    const { violations } = await simulate(seed);
    expect(violations).toEqual([]);
  });

  it.each(Array.from({ length: SEEDS / CHUNK }, (_, i) => [1 + i * CHUNK, (i + 1) * CHUNK]))(
    "keeps every law with the seeds from %i to %i",
    { timeout: TIMEOUT_MS },
    async (from, to) => {
      for (let seed = from ?? 1; seed <= (to ?? 0); seed++) {
        const { violations } = await simulate(seed);
        expect(violations, `npm run sim -- --seed ${seed}`).toEqual([]);
      }
    },
  );
});

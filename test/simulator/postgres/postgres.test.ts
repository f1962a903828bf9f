import { afterAll, expect, it } from "vitest";
import { postgresUrl } from "../../../settlement/ledger/testing/backends.ts";
import { RARITIES, type Rarity } from "./daemon.ts";
import { simulatePostgres } from "./simulatePostgres.ts";

const SEEDS = 12;

let waits = 0;
let seedsRun = 0;
const reached = new Set<Rarity>();
// Counters that are right because nothing happened are worth nothing. Whoever runs one seed is told of that one alone.
afterAll(() => {
  if (seedsRun < SEEDS) return;
  expect(waits).toBeGreaterThan(0);
  expect([...reached].sort()).toEqual(RARITIES.toSorted());
});

it("two daemons whose statements meet on PostgreSQL go the same way for the same seed", async () => {
  const server = await postgresUrl();
  const [first, second] = [await simulatePostgres(server, 7), await simulatePostgres(server, 7)];
  expect(second).toEqual(first);
});

it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))("and count right in the end with seed %i", async (seed) => {
  const run = await simulatePostgres(await postgresUrl(), seed);
  waits += run.waits;
  seedsRun += 1;
  for (const rarity of run.reached) reached.add(rarity);
  expect(run.violations, `npm run sim -- --postgres --seed ${seed}`).toEqual([]);
});

import { afterAll, expect, it } from "vitest";
import { postgresUrl } from "../../../settlement/ledger/testing/backends.ts";
import { simulatePostgres } from "./simulatePostgres.ts";

const SEEDS = 8;

let waits = 0;
afterAll(() => expect(waits).toBeGreaterThan(0));

it("two daemons whose statements meet on PostgreSQL go the same way for the same seed", async () => {
  const server = await postgresUrl();
  const [first, second] = [await simulatePostgres(server, 7), await simulatePostgres(server, 7)];
  expect(second).toEqual(first);
});

it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))("and count right in the end with seed %i", async (seed) => {
  const run = await simulatePostgres(await postgresUrl(), seed);
  waits += run.waits;
  expect(run.violations, `npm run sim -- --postgres --seed ${seed}`).toEqual([]);
});

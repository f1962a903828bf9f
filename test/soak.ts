// `npm run soak -- [--minutes N] [--seed S]`: everything that `npm test` has no time for. Again and again until the time is
// over: every fault in another order, storms of random faults over random traffic, and new seeds of the simulator. Ends with
// a summary, and with 1 if anything did not hold.
import { readArguments, UsageError, withUsage } from "../settlement/cli/readArguments.ts";
import { groups } from "./faults/cases/groups.ts";
import { runCase } from "./faults/runCase.ts";
import { type Ground, startGround } from "./faults/stage/stage.ts";
import { runStorm } from "./faults/storm.ts";
import { createRng } from "./simulator/rng.ts";
import { simulate } from "./simulator/simulate.ts";

const DEFAULT_MINUTES = "10";
const FAULTS_AT_A_TIME = 8;
const STORMS_AT_A_TIME = 2;
const SEEDS_AT_A_TIME = 25;

const USAGE = "Usage: npm run soak -- [--minutes N] [--seed S]";
const { minutes, seed } = await withUsage(USAGE, readOptions);
const rng = createRng(seed);
const endAtMs = Date.now() + minutes * 60_000;
const timeIsUp = () => Date.now() >= endAtMs;
const failures: string[] = [];
const summary = { faults: 0, storms: 0, kills: 0, charges: 0, simulatorSeeds: 0 };
console.log(`soaking for ${minutes} minutes with seed ${seed}`);

function readOptions(): { minutes: number; seed: number } {
  const { values } = readArguments({
    options: { minutes: { type: "string", default: DEFAULT_MINUTES }, seed: { type: "string" } },
  });
  const chosen = {
    minutes: Number(values.minutes),
    // Printed, so that the same choices can be made again.
    seed: Number(values.seed ?? Date.now() % 1_000_000_000),
  };
  if (!(chosen.minutes > 0 && Number.isFinite(chosen.minutes))) {
    throw new UsageError("--minutes must be a number above zero");
  }
  if (!Number.isSafeInteger(chosen.seed)) throw new UsageError("--seed must be a whole number");
  return chosen;
}

async function attempt(name: string, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await work();
    console.log(`  ${name} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
  } catch (error) {
    failures.push(name);
    console.error(`✗ ${name}\n${error instanceof Error ? error.message : error}`);
  }
}

async function faultsOn(ground: Ground): Promise<void> {
  const some = rng.shuffled(groups.flatMap(({ cases }) => cases)).slice(0, FAULTS_AT_A_TIME);
  for (const one of some) {
    if (timeIsUp()) return;
    await attempt(`fault ${one.number}: ${one.claim}`, async () => {
      const { balances } = await runCase(ground, one);
      summary.faults += 1;
      summary.charges += balances.charges;
    });
  }
}

async function stormsOn(ground: Ground): Promise<void> {
  for (let i = 0; i < STORMS_AT_A_TIME && !timeIsUp(); i++) {
    const stormSeed = rng.below(1_000_000_000);
    await attempt(`storm ${stormSeed}`, async () => {
      const { balances, kills } = await runStorm(ground, stormSeed);
      summary.storms += 1;
      summary.kills += kills;
      summary.charges += balances.charges;
    });
  }
}

async function simulateSome(): Promise<void> {
  const first = rng.below(1_000_000_000);
  await attempt(`simulator seeds from ${first}`, async () => {
    for (let i = 0; i < SEEDS_AT_A_TIME && !timeIsUp(); i++) {
      const { violations } = await simulate(first + i);
      summary.simulatorSeeds += 1;
      if (violations.length > 0) throw new Error(`seed ${first + i}: ${violations.join("; ")}`);
    }
  });
}

while (!timeIsUp()) {
  const ground = await startGround();
  try {
    await faultsOn(ground);
    await stormsOn(ground);
  } finally {
    await ground.stop();
  }
  await simulateSome();
}

for (const [name, count] of Object.entries(summary)) console.log(`${name}: ${count}`);
console.log(`failures: ${failures.length}`);
for (const name of failures) console.log(`  ${name}`);
// Said aloud: the PostgreSQL package ends the process by itself otherwise, and always with 0.
process.exit(failures.length === 0 ? 0 : 1);

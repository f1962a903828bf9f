// `npm run --silent faults -- [--only N,N]`: runs every fault against a real chain and real daemon processes and says what
// happened. If all that were run hold, it writes what was seen into docs/faults.md.
import { spawnSync } from "node:child_process";
import { readArguments, UsageError, withUsage } from "../../settlement/cli/readArguments.ts";
import type { Observation } from "./cases/faultCase.ts";
import { groups } from "./cases/groups.ts";
import { PAGE, writeTables } from "./page/table.ts";
import { runCase } from "./runCase.ts";
import { startGround } from "./stage/stage.ts";

const USAGE = "Usage: npm run --silent faults -- [--only N,N]";
const only = await withUsage(USAGE, readOnly);
const observations = new Map<number, Observation>();
let failures = 0;

for (const { name, cases } of groups) {
  const chosen = cases.filter(({ number }) => only === null || only.includes(number));
  if (chosen.length === 0) continue;
  console.log(name);
  const ground = await startGround();
  for (const one of chosen) {
    const startedAt = performance.now();
    try {
      const observation = await runCase(ground, one);
      observations.set(one.number, observation);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      console.log(`${`${one.number}`.padStart(4)} ${one.fault}: ${observation.happened} (${seconds} s)`);
    } catch (error) {
      failures += 1;
      console.error(error instanceof Error ? error.message : error);
    }
  }
  await ground.stop();
}
console.log(`${observations.size} faults survived, ${failures} not`);
if (failures === 0) {
  writeTables(groups, observations);
  spawnSync("node_modules/.bin/biome", ["format", "--write", PAGE], { stdio: "inherit" });
}
// Said aloud: the PostgreSQL package ends the process by itself otherwise, and always with 0.
process.exit(failures === 0 ? 0 : 1);

// The numbers of the faults that are asked for, null for all.
function readOnly(): number[] | null {
  const { only: asked } = readArguments({ options: { only: { type: "string" } } }).values;
  if (asked === undefined) return null;
  const known = groups.flatMap(({ cases }) => cases.map(({ number }) => number));
  const numbers = asked.split(",").map(Number);
  if (numbers.every((number) => known.includes(number))) return numbers;
  throw new UsageError(`--only names faults by their number, from 1 to ${Math.max(...known)}, and is "${asked}"`);
}

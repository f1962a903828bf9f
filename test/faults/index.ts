// `npm run --silent faults -- [--only N,N]`: runs every fault against a real chain and real daemon processes and says what
// happened. If all were run and hold, it writes the tables of docs/faults.md.
import { spawnSync } from "node:child_process";
import { mistyped, readArguments } from "../readArguments.ts";
import type { Observation } from "./faultCase.ts";
import { groups } from "./groups.ts";
import { runCase } from "./runCase.ts";
import { PAGE, writeTables } from "./table.ts";
import { startGround } from "./world.ts";

const USAGE = "Usage: npm run --silent faults -- [--only N,N]";
const values = readArguments({ only: { type: "string" } }, USAGE);
const only = values.only?.split(",").map(Number);
const numbers = groups.flatMap(({ cases }) => cases.map(({ number }) => number));
const unknown = only?.find((number) => !numbers.includes(number));
if (unknown !== undefined) {
  mistyped(`--only names faults by their number, from 1 to ${Math.max(...numbers)}, and is "${values.only}".`, USAGE);
}
const observations = new Map<number, Observation>();
let failures = 0;

for (const { name, cases } of groups) {
  const chosen = cases.filter(({ number }) => only === undefined || only.includes(number));
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
if (failures === 0 && only === undefined) {
  writeTables(groups, observations);
  spawnSync("node_modules/.bin/biome", ["format", "--write", PAGE], { stdio: "inherit" });
}
// Said aloud: the PostgreSQL package ends the process by itself otherwise, and always with 0.
process.exit(failures === 0 ? 0 : 1);

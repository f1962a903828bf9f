// `npm run --silent faults -- [--only N,N]`: runs every fault against a real chain and real daemon processes and says what
// happened. Without --only it writes docs/faults.md.
import { parseArgs } from "node:util";
import type { Observation } from "./faultCase.ts";
import { groups } from "./groups.ts";
import { runCase } from "./runCase.ts";
import { startGround } from "./world.ts";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const only = values.only?.split(",").map(Number);
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
      const { charges, acknowledgedUsd, lost } = observation.books;
      console.log(
        `  ${one.number} ${one.fault}: ${observation.happened}; ${lost} lost of ${charges} charges, ${acknowledgedUsd} USDC (${Math.round(performance.now() - startedAt)} ms)`,
      );
    } catch (error) {
      failures += 1;
      console.error(error instanceof Error ? error.message : error);
    }
  }
  await ground.stop();
}
process.exitCode = failures === 0 ? 0 : 1;

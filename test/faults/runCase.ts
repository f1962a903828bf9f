import type { FaultCase, Observation } from "./faultCase.ts";
import type { Ground } from "./world.ts";

// Runs one case on a world of its own. What the daemon last said is part of an error.
export async function runCase(ground: Ground, { number, run }: FaultCase): Promise<Observation> {
  const world = await ground.open();
  try {
    return await run(world);
  } catch (error) {
    const log = world.lastWords();
    throw new Error(`fault ${number}: ${error instanceof Error ? error.message : error}\n${log}`, { cause: error });
  } finally {
    await world.close();
  }
}

import type { FaultCase, Observation } from "./cases/faultCase.ts";
import type { Ground } from "./stage/stage.ts";

// Runs one case on a stage of its own. What the daemon last said is part of an error.
export async function runCase(ground: Ground, { number, run }: FaultCase): Promise<Observation> {
  const stage = await ground.open();
  try {
    return await run(stage);
  } catch (error) {
    const log = stage.lastWords();
    throw new Error(`fault ${number}: ${error instanceof Error ? error.message : error}\n${log}`, { cause: error });
  } finally {
    await stage.close();
  }
}

import type { Books } from "./books.ts";
import type { World } from "./world.ts";

// One fault of the list: what goes wrong, how it is made to go wrong, what is claimed to hold, and the run that shows it.
export type FaultCase = {
  number: number;
  fault: string;
  injected: string;
  claim: string;
  run(world: World): Promise<Observation>;
};

// What the run saw, in words that are the same for every run, and the books after it.
export type Observation = { happened: string; books: Books };

export type FaultGroup = { name: string; cases: readonly FaultCase[] };

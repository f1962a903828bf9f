import type { Balances } from "../stage/balances.ts";
import type { Stage } from "../stage/stage.ts";

// One fault of the list: what goes wrong, how it is made to go wrong, what is claimed to hold, and the run that shows it.
export type FaultCase = {
  number: number;
  fault: string;
  injected: string;
  claim: string;
  run(stage: Stage): Promise<Observation>;
};

// What the run saw, in words that are the same for every run, and the balances after it.
export type Observation = { happened: string; balances: Balances };

export type FaultGroup = { name: string; cases: readonly FaultCase[] };

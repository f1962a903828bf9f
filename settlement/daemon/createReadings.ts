import type { Chain } from "../chain/chain.ts";
import type { ChainInspection } from "../chain/inspectChain.ts";
import type { Clock } from "../clock.ts";
import type { Engine } from "../engine/createEngine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { keepFor } from "./keepFor.ts";
import { type Figures, readFigures } from "./readFigures.ts";
import type { Readiness } from "./readiness.ts";
import { type OperatorRow, readOperators } from "./readOperators.ts";
import { readTools, type ToolRow } from "./readTools.ts";

export type Readings = {
  figures(minutes: number, stepSeconds: number): Promise<Figures>;
  tools(limit: number, offset: number): Promise<ToolRow[]>;
  operators(): Promise<OperatorRow[]>;
};

export type ReadingsSource = {
  engine: Pick<Engine, "operators">;
  ledger: Ledger;
  chain: Chain;
  inspection: ChainInspection;
  clock: Clock;
  readiness: Readiness;
};

const FIGURES_MAX_AGE_MS = 1_000;
// These ask the chain, which providers count and which moves every two seconds.
const CHAIN_MAX_AGE_MS = 4_000;

// What many people watch at once, read once for all of them.
export function createReadings({ engine, ...source }: ReadingsSource): Readings {
  const { clock } = source;
  const figures = keepFor(FIGURES_MAX_AGE_MS, clock, (minutes: number, stepSeconds: number) =>
    readFigures(source, { minutes, stepSeconds }),
  );
  const tools = keepFor(CHAIN_MAX_AGE_MS, clock, (limit: number, offset: number) => readTools(source, limit, offset));
  const operators = keepFor(CHAIN_MAX_AGE_MS, clock, () => readOperators({ ...source, own: engine.operators }));
  return { figures, tools, operators };
}

import type { Chain } from "../../../chain/chain.ts";
import type { ChainInspection } from "../../../chain/inspectChain.ts";
import type { Clock } from "../../../clock.ts";
import type { Engine } from "../../../engine/createEngine.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { OperatorRow } from "../../../views/service/operator.ts";
import type { Stats } from "../../../views/service/stats.ts";
import type { ToolRow } from "../../../views/tool.ts";
import type { Readiness } from "../readiness.ts";
import { cacheFor } from "./cacheFor.ts";
import { readOperators } from "./readOperators.ts";
import { readStats } from "./readStats.ts";
import { readTools } from "./readTools.ts";

export type CachedReads = {
  stats(minutes: number, stepSeconds: number): Promise<Stats>;
  tools(limit: number, offset: number): Promise<ToolRow[]>;
  operators(): Promise<OperatorRow[]>;
};

export type CachedReadsSource = {
  engine: Pick<Engine, "operators">;
  ledger: Ledger;
  chain: Chain;
  inspection: ChainInspection;
  clock: Clock;
  readiness: Readiness;
};

const STATS_MAX_AGE_MS = 1_000;
// These ask the chain, which providers count and which moves every two seconds.
const CHAIN_MAX_AGE_MS = 4_000;

// What many people watch at once, read once for all of them.
export function createCachedReads({ engine, ...source }: CachedReadsSource): CachedReads {
  const { clock } = source;
  const stats = cacheFor(STATS_MAX_AGE_MS, clock, (minutes: number, stepSeconds: number) =>
    readStats(source, { minutes, stepSeconds }),
  );
  const tools = cacheFor(CHAIN_MAX_AGE_MS, clock, (limit: number, offset: number) => readTools(source, limit, offset));
  const operators = cacheFor(CHAIN_MAX_AGE_MS, clock, () => readOperators({ ...source, own: engine.operators }));
  return { stats, tools, operators };
}

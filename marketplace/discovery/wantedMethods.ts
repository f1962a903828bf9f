import { isQueryEligible, type LatencyClass, type Method, type Surface } from "../registry/listing.ts";

export type Filters = {
  mode?: "query" | "execute" | undefined;
  surface?: Surface | undefined;
  queryEligible?: boolean | undefined;
  requireExecutePricing?: boolean | undefined;
  excludeLatency?: readonly LatencyClass[] | undefined;
  excludeSlow?: boolean | undefined;
};

// Which methods pass; undefined if there is no filter and all of them do.
export function wantedMethods(filters: Filters): ((method: Method) => boolean) | undefined {
  const { mode, surface, queryEligible, requireExecutePricing, excludeLatency = [], excludeSlow } = filters;
  const conditions: ((method: Method) => boolean)[] = [];
  if (mode === "execute" || requireExecutePricing === true) conditions.push(({ executeEligible }) => executeEligible);
  if (mode === "query") conditions.push(isQueryEligible);
  if (surface !== undefined) conditions.push(({ _meta }) => _meta.surface === surface || _meta.surface === "both");
  if (queryEligible !== undefined) conditions.push(({ _meta }) => _meta.queryEligible === queryEligible);
  if (excludeLatency.length > 0) conditions.push(({ _meta }) => !excludeLatency.includes(_meta.latencyClass));
  if (excludeSlow === true) conditions.push(({ _meta: { latencyClass } }) => !SLOW.includes(latencyClass));
  return conditions.length === 0 ? undefined : (method) => conditions.every((passes) => passes(method));
}

const SLOW: readonly LatencyClass[] = ["slow", "streaming"];

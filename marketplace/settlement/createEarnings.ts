import { LRUCache } from "lru-cache";
import type { Earnings, SettlementClient } from "./createSettlementClient.ts";

const KEPT_MS = 10_000;
const WAIT_MS = 500;
const MAX_TOOLS = 10_000;

// What tools have earned, for pages: a few seconds old, and null rather than late. One question at a time is asked for each.
export function createEarnings(settlement: Pick<SettlementClient, "earnings">) {
  const kept = new LRUCache<string, { asking: Promise<Earnings | null> }>({ max: MAX_TOOLS, ttl: KEPT_MS });
  return async (toolId: string): Promise<Earnings | null> => {
    let known = kept.get(toolId);
    if (known === undefined) {
      known = { asking: settlement.earnings(toolId).catch(() => null) };
      kept.set(toolId, known);
    }
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), WAIT_MS);
    try {
      return await Promise.race([known.asking, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

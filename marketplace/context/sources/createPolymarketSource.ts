import { z } from "zod";
import { fetchJson } from "../fetchJson.ts";
import type { ContextSource } from "../source.ts";

const positionsSchema = z.array(
  z.looseObject({
    conditionId: z.string(),
    asset: z.string(),
    outcome: z.string(),
    outcomeIndex: z.number().optional(),
    size: z.coerce.number(),
    avgPrice: z.coerce.number(),
    title: z.string().optional(),
  }),
);

const valueSchema = z.array(z.looseObject({ value: z.coerce.number() }));

export type PolymarketOptions = { url?: string; nowMs?: () => number };

// An account on Polymarket. Its orders can be read by its owner only, so that nobody sees any here.
export function createPolymarketSource(options: PolymarketOptions = {}): ContextSource {
  const { url = "https://data-api.polymarket.com", nowMs = Date.now } = options;
  return async (address, signal) => {
    const [positions, values] = await Promise.all([
      fetchJson(`${url}/positions?user=${address}`, positionsSchema, { signal }),
      fetchJson(`${url}/value?user=${address}`, valueSchema, { signal }),
    ]);
    const [total] = values;
    return {
      walletAddress: address,
      positions: positions.map((position) => ({
        conditionId: position.conditionId,
        tokenId: position.asset,
        // Markets name their two sides as they like; the first is what YES would be.
        outcome: /^yes$/i.test(position.outcome) || position.outcomeIndex === 0 ? "YES" : "NO",
        shares: position.size,
        avgEntryPrice: position.avgPrice,
        ...(position.title !== undefined && { marketTitle: position.title }),
      })),
      openOrders: [],
      ...(total !== undefined && { totalValue: total.value }),
      fetchedAt: new Date(nowMs()).toISOString(),
    };
  };
}

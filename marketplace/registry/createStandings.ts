import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../settlement/clock.ts";
import { createRateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";
import { toolIdFromUuid } from "../../settlement/domain/toolId.ts";
import type { MarketChain } from "../chain/openChain.ts";

type OnChain = Awaited<ReturnType<MarketChain["tools"]>>[number];

// How a tool stands on chain now.
export type ReadStanding = (toolId: string) => Promise<OnChain>;

// Each read is three requests to an endpoint, whose quota may be settlement's too.
const PER_SECOND = 5;
const BURST = 20;

// Whoever has a key, which costs nothing, may ask who owns a tool as often as the account's rate lets it, and there is no end of
// accounts. So those who ask while a read runs, or waits for its turn, share the next one.
export function createStandings(
  chain: Pick<MarketChain, "tools">,
  clock: Clock,
  wait: (ms: number) => Promise<unknown> = (ms) => pause(ms),
): ReadStanding {
  const rateLimit = createRateLimit({ perSecond: PER_SECOND, burst: BURST, clock });
  let waiting = new Map<string, PromiseWithResolvers<OnChain>>();
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.size > 0) {
      for (let waitMs = rateLimit("all"); waitMs > 0; waitMs = rateLimit("all")) await wait(waitMs);
      const asked = waiting;
      waiting = new Map();
      try {
        const toolIds = [...asked.keys()];
        const found = await chain.tools(toolIds.map(toolIdFromUuid));
        for (const [i, toolId] of toolIds.entries()) asked.get(toolId)?.resolve(found[i] ?? null);
      } catch (error) {
        for (const { reject } of asked.values()) reject(error);
      }
    }
    isReading = false;
  }

  return (toolId) => {
    const asked = waiting.get(toolId) ?? Promise.withResolvers<OnChain>();
    waiting.set(toolId, asked);
    if (!isReading) void readAll();
    return asked.promise;
  };
}

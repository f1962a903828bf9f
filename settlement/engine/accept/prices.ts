import { LRUCache } from "lru-cache";
import type { Listing } from "../../chain/chain.ts";
import { SettlementError } from "../../domain/errors.ts";
import { formatUsd, type MicroUsdc, microUsdc } from "../../domain/money.ts";
import { type ToolId, uuidFromToolId } from "../../domain/toolId.ts";
import type { EngineContext } from "../context.ts";

export type Cost = { toolId: ToolId; amount: MicroUsdc };

// What tools cost at the most of which more was asked.
export type PriceRefusal = { reason: string; listed: readonly { toolId: ToolId; most: MicroUsdc }[] };

export type Prices = {
  // Why some of these are more than their tools may cost; null if none is. `unknown` is what to do about tools of which the chain does
  // not say anything at present: to say so, or to take what is asked for them, without waiting for long.
  refuse(costs: readonly Cost[], unknown: "throw" | "take"): Promise<PriceRefusal | null>;
};

export type PricesContext = Pick<EngineContext, "clock"> & {
  chain: Pick<EngineContext["chain"], "listings">;
  policy: Pick<EngineContext["policy"], "listingWaitMs">;
};

type Known = { most: bigint | null; askedAtMs: number };

// Prices change seldom. Before anything is refused the chain is asked again, so that a price that was raised counts at once.
const MAX_AGE_MS = 5 * 60_000;
const MAX_CACHED = 10_000;

// A call, or a tool's part of a turn, costs at most what the tool is listed for: its stake answers for that price. A tool that is
// listed for nothing may still have methods with a price of their own. They cost at most what it could be listed for with its
// stake. A tool that is not listed is nobody's to judge: the chain refuses its lines, and nobody is charged.
export function createPrices({ chain, clock, policy }: PricesContext): Prices {
  const cache = new LRUCache<ToolId, Known>({ max: MAX_CACHED });

  async function read(toolIds: readonly ToolId[]): Promise<void> {
    if (toolIds.length === 0) return;
    const askedAtMs = clock.nowMs();
    const listings = await chain.listings(toolIds);
    for (const [i, toolId] of toolIds.entries()) cache.set(toolId, { most: mostOf(listings[i] ?? null), askedAtMs });
  }

  function isFresh(toolId: ToolId): boolean {
    const known = cache.get(toolId);
    const ageMs = known === undefined ? Number.NaN : clock.nowMs() - known.askedAtMs;
    return ageMs >= 0 && ageMs < MAX_AGE_MS;
  }

  const isAbove = ({ toolId, amount }: Cost) => {
    const most = cache.get(toolId)?.most ?? null;
    return most !== null && amount > most;
  };

  const refusalOf = ({ toolId, amount }: Cost) => {
    const most = microUsdc(cache.get(toolId)?.most ?? 0n);
    const [listed, asked] = [most, amount].map(formatUsd);
    const sentence = `tool ${uuidFromToolId(toolId)} costs at most ${listed} USDC as it is listed on chain, and ${asked} was asked for it`;
    return { toolId, most, sentence };
  };

  return {
    async refuse(costs, unknown) {
      const paid = costs.filter(({ amount }) => amount > 0n);
      const readAll = async () => {
        await read(toolsOf(paid).filter((toolId) => !isFresh(toolId)));
        await read(toolsOf(paid.filter(isAbove)));
        return true;
      };
      // Nearly always: every turn and every call asks, and then neither waits nor sets a timer.
      if (paid.every(({ toolId }) => isFresh(toolId)) && !paid.some(isAbove)) return null;
      if (unknown === "throw") await readAll();
      else if (!(await inTime(readAll(), policy.listingWaitMs))) return null;
      const above = paid.filter(isAbove).map(refusalOf);
      if (above.length === 0) return null;
      return {
        reason: above.map(({ sentence }) => sentence).join("; "),
        listed: above.map(({ toolId, most }) => ({ toolId, most })),
      };
    },
  };
}

// Each once, however many turns name it.
const toolsOf = (costs: readonly Cost[]) => [...new Set(costs.map(({ toolId }) => toolId))];

// False if it takes longer, or if the chain is away.
async function inTime(reading: Promise<boolean>, waitMs: number): Promise<boolean> {
  const read = reading.catch((error: unknown) => {
    if (error instanceof SettlementError && error.retryable) return false;
    throw error;
  });
  if (!Number.isFinite(waitMs)) return read;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
  }
}

function mostOf(listing: Listing | null): bigint | null {
  if (listing === null) return null;
  return listing.price > 0n ? listing.price : listing.maxPrice;
}

import { microUsdc } from "../../../settlement/domain/money.ts";
import { cleanMethods } from "../cleanMethods.ts";
import type { Listing } from "../listing.ts";

let made = 0;

// A listing that is offered, with a method for each `_meta`.
export function newListing(
  name: string,
  more: Partial<Listing> & { meta?: Record<string, unknown>[]; words?: string } = {},
): Listing {
  const { meta = [{}], words = "", ...own } = more;
  made += 1;
  const listed = meta.map((_meta, i) => ({
    name: `method_${i}`,
    description: words,
    inputSchema: { type: "object" },
    _meta,
  }));
  return {
    toolId: `00000000-0000-8000-8000-${made.toString().padStart(12, "0")}`,
    name,
    description: "",
    category: null,
    endpoint: `https://tool-${made}.example/mcp`,
    defaultExecutePriceUsd: null,
    executePrices: {},
    suggestedPrompts: [],
    owner: "0x0000000000000000000000000000000000000001",
    price: microUsdc(0n),
    stake: microUsdc(10_000_000n),
    requiredStake: microUsdc(10_000_000n),
    methods: cleanMethods(listed, { defaultExecutePriceUsd: null, executePrices: {} }).methods,
    warnings: [],
    status: { kind: "active" },
    isVerified: false,
    pings: 1,
    pingsAnswered: 1,
    failuresInARow: 0,
    calls: 0,
    callsSucceeded: 0,
    paidCalls: 0,
    failedCalls: 0,
    payers: 0,
    earned: microUsdc(0n),
    registeredAtMs: 0,
    refreshedAtMs: 0,
    updatedAtMs: 0,
    revision: made,
    ...own,
  };
}

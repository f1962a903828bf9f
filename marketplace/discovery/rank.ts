import type { Listing } from "../registry/listing.ts";

const MANY_CALLS = 6;
const LARGE_STAKE = 12;

// What is known of a tool, from 0 to 0.5: how much it is used, how often that went well, and what its developer stands to
// lose. Bounded, because use can be bought: enough to decide between equals, never enough to come up for something else.
export function qualityOf({ calls, callsSucceeded, stake }: Listing): number {
  // Two made-up calls, one good and one bad, so that a single success is not a perfect record.
  const success = (callsSucceeded + 1) / (calls + 2);
  const use = Math.min(1, Math.log10(1 + calls) / MANY_CALLS);
  const trust = Math.min(1, Math.log10(1 + Number(stake)) / LARGE_STAKE);
  return 0.3 * use * success + 0.15 * success + 0.05 * trust;
}

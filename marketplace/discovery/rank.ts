import type { Listing } from "../registry/listing.ts";

const MANY_CALLS = 6;
const LARGE_STAKE = 12;
// Whoever calls a tool all day is one buyer.
const CALLS_OF_A_PAYER = 100;

// What is known of a tool, from 0 to 0.5: how much it is paid for, how often that went well, and what its developer stands to
// lose. Bounded, because use can be bought: enough to decide between equals, never enough to come up for something else. What costs
// nothing counts for nothing, because anybody can have as much of it as they like.
export function qualityOf({ paidCalls, failedCalls, payers, stake }: Listing): number {
  // Two made-up calls, one good and one bad, so that a single success is not a perfect record.
  const success = (paidCalls + 1) / (paidCalls + failedCalls + 2);
  const use = Math.min(1, Math.log10(1 + Math.min(paidCalls, payers * CALLS_OF_A_PAYER)) / MANY_CALLS);
  const trust = Math.min(1, Math.log10(1 + Number(stake)) / LARGE_STAKE);
  return 0.3 * use * success + 0.15 * success + 0.05 * trust;
}

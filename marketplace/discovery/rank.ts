import type { Listing } from "../registry/listing.ts";

// In powers of ten: a hundred thousand dollars, in cents, and a stake of a million, in millionths.
const MUCH_MONEY = 7;
const LARGE_STAKE = 12;
const CENT = 10_000;

// What is known of a tool, from 0 to 0.5: how much was paid for it, how often that went well, and what its developer stands to
// lose. Bounded, because use can be bought: enough to decide between equals, never enough to come up for something else. It is money
// that counts and not calls, of which a million can cost next to nothing.
export function qualityOf({ paidCalls, failedCalls, earned, stake }: Listing): number {
  // Two made-up calls, one good and one bad, so that a single success is not a perfect record.
  const success = (paidCalls + 1) / (paidCalls + failedCalls + 2);
  const use = Math.min(1, Math.log10(1 + Number(earned) / CENT) / MUCH_MONEY);
  const trust = Math.min(1, Math.log10(1 + Number(stake)) / LARGE_STAKE);
  return 0.3 * use * success + 0.15 * success + 0.05 * trust;
}

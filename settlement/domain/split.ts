export type RevenueSplit = { developerShare: bigint; protocolShare: bigint };

// The protocol's share is a tenth: one part in this many.
const PROTOCOL_PARTS = 10n;

// The 90/10 split of RevenueSplit.sol, unit for unit. No unit is lost, and rounding favours the developer.
export function splitRevenue(amount: bigint): RevenueSplit {
  if (amount < 0n) throw new RangeError(`amount is ${amount} micro-USDC; a charge is never negative`);
  const protocolShare = amount / PROTOCOL_PARTS;
  return { developerShare: amount - protocolShare, protocolShare };
}

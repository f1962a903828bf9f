// The protocol's share is a tenth: one part in this many. RevenueSplit.sol is the same function on chain.
const PROTOCOL_PARTS = 10n;

// Splits what a tool earned in a batch so that no unit is lost. Rounding favours the developer.
export function splitRevenue(amount: bigint): { developerShare: bigint; protocolShare: bigint } {
  const protocolShare = amount / PROTOCOL_PARTS;
  return { developerShare: amount - protocolShare, protocolShare };
}

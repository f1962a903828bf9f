import type { Broadcast } from "../domain/submission.ts";

export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

// Room for the base fee to double before the transaction waits.
const BASE_FEE_ROOM = 2n;

export function marketFees(baseFeePerGas: bigint, priorityFee: bigint): Fees {
  return { maxFeePerGas: baseFeePerGas * BASE_FEE_ROOM + priorityFee, maxPriorityFeePerGas: priorityFee };
}

// The fees of a replacement: the market's, and at least 12.5 % above what was offered before, because nodes refuse less
// than 10 %. Null if that is above the ceiling.
export function replacementFees(market: Fees, last: Broadcast, ceiling: bigint): Fees | null {
  const fees = {
    maxFeePerGas: larger(market.maxFeePerGas, raised(last.maxFeePerGas)),
    maxPriorityFeePerGas: larger(market.maxPriorityFeePerGas, raised(last.maxPriorityFeePerGas)),
  };
  // A tip above the whole fee is not a valid transaction.
  fees.maxFeePerGas = larger(fees.maxFeePerGas, fees.maxPriorityFeePerGas);
  return fees.maxFeePerGas <= ceiling ? fees : null;
}

// One eighth more, rounded up, so that a fee of a few wei grows too.
const raised = (fee: bigint) => fee + (fee + 7n) / 8n;

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

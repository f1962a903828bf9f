import type { Broadcast } from "../../domain/batch/submission.ts";

export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

// Room for the base fee to double before the transaction waits.
const BASE_FEE_ROOM = 2n;

// What to offer now: room for a rising base fee as far as the ceiling allows. Null if the ceiling is below what the chain
// asks for at this moment; only then is there no point in sending.
export function marketFees(baseFeePerGas: bigint, priorityFee: bigint, ceiling: bigint): Fees | null {
  if (baseFeePerGas + priorityFee > ceiling) return null;
  const wanted = baseFeePerGas * BASE_FEE_ROOM + priorityFee;
  return { maxFeePerGas: wanted < ceiling ? wanted : ceiling, maxPriorityFeePerGas: priorityFee };
}

// The fees of a replacement: the market's, and at least 12.5 % above what was offered before, because nodes refuse less
// than 10 %. Null if that is above the ceiling.
export function replacementFees(market: Fees | null, last: Broadcast, ceiling: bigint): Fees | null {
  if (market === null) return null;
  const maxPriorityFeePerGas = larger(market.maxPriorityFeePerGas, raised(last.maxPriorityFeePerGas));
  // A tip above the whole fee is not a valid transaction.
  const maxFeePerGas = larger(larger(market.maxFeePerGas, raised(last.maxFeePerGas)), maxPriorityFeePerGas);
  return maxFeePerGas <= ceiling ? { maxFeePerGas, maxPriorityFeePerGas } : null;
}

// One eighth more, rounded up, so that a fee of a few wei grows too.
const raised = (fee: bigint) => fee + (fee + 7n) / 8n;

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

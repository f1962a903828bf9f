// RollingLimit.sol over again, with a list for the four sums that the contract keeps in one word.
export type RollingLimit = { cap: bigint; period: bigint; sums: readonly bigint[] };

const PERIOD_SECONDS = 8n * 3600n;
const PERIODS = 4;
const PERIOD_WRAPS_AT = 2n ** 16n;

export const limitOf = (cap: bigint): RollingLimit => ({ cap, period: 0n, sums: Array(PERIODS).fill(0n) });

export function leftOf(limit: RollingLimit, timestamp: bigint): bigint {
  const spent = sumsAt(limit, timestamp).reduce((total, sum) => total + sum, 0n);
  return limit.cap > spent ? limit.cap - spent : 0n;
}

export function spend(limit: RollingLimit, amount: bigint, timestamp: bigint): RollingLimit {
  const [newest = 0n, ...older] = sumsAt(limit, timestamp);
  return { cap: limit.cap, period: periodAt(timestamp), sums: [newest + amount, ...older] };
}

// Newest first, as seen from the present period.
function sumsAt({ period, sums }: RollingLimit, timestamp: bigint): bigint[] {
  const elapsed = (periodAt(timestamp) - period + PERIOD_WRAPS_AT) % PERIOD_WRAPS_AT;
  const gone = elapsed > BigInt(PERIODS) ? PERIODS : Number(elapsed);
  return [...Array<bigint>(gone).fill(0n), ...sums].slice(0, PERIODS);
}

const periodAt = (timestamp: bigint) => (timestamp / PERIOD_SECONDS) % PERIOD_WRAPS_AT;

// What was added in the newest four periods of 8 hours, newest first. Any 24 hours touch at most four of them, so that a bound on
// all four holds in any 24 hours, wherever they begin: the rule of RollingLimit.sol.
export type RollingSum = { period: number; sums: readonly [bigint, bigint, bigint, bigint] };

const PERIOD_MS = 8 * 3_600_000;

export const NOTHING_YET: RollingSum = { period: 0, sums: [0n, 0n, 0n, 0n] };

// As seen at a time. A clock that was set back changes nothing.
export function rolledTo({ period, sums }: RollingSum, nowMs: number): RollingSum {
  const now = Math.max(period, Math.floor(nowMs / PERIOD_MS));
  const gone = Math.min(now - period, sums.length);
  const [a = 0n, b = 0n, c = 0n, d = 0n] = [...Array<bigint>(gone).fill(0n), ...sums];
  return { period: now, sums: [a, b, c, d] };
}

export const totalOf = ({ sums }: RollingSum): bigint => sums.reduce((total, sum) => total + sum, 0n);

// The same after `amount` was added in its newest period.
export function plus({ period, sums: [newest, ...older] }: RollingSum, amount: bigint): RollingSum {
  return { period, sums: [newest + amount, ...older] };
}

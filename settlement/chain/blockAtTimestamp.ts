export type DatedBlock = { number: bigint; timestamp: bigint };

// Every second step halves what is left, so this is twice what any chain's height needs.
const MAX_STEPS = 128;

// Finds the block that was made at `timestamp`; null if there is none. It guesses as if blocks came at even intervals,
// which on Base is right at once, and halves the rest whenever a guess was not. Timestamps grow from block to block.
export async function blockAtTimestamp(
  timestamp: bigint,
  range: { low: DatedBlock; high: DatedBlock },
  blockAt: (number: bigint) => Promise<DatedBlock | null>,
): Promise<DatedBlock | null> {
  let { low, high } = range;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (low.timestamp === timestamp) return low;
    if (high.timestamp === timestamp) return high;
    const span = high.number - low.number;
    if (span <= 1n || timestamp < low.timestamp || timestamp > high.timestamp) return null;
    const share = (span * (timestamp - low.timestamp)) / (high.timestamp - low.timestamp);
    const guess = step % 2 === 0 ? low.number + within(1n, share, span - 1n) : low.number + span / 2n;
    const block = await blockAt(guess);
    if (block === null) return null;
    if (block.timestamp <= timestamp) low = block;
    else high = block;
  }
  return null;
}

const within = (min: bigint, value: bigint, max: bigint) => (value < min ? min : value > max ? max : value);

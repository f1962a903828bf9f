export type DatedBlock = { number: bigint; timestamp: bigint };

// Finds the blocks that were made at `timestamp`: the first and the last of them, or null if there are none. Timestamps
// never fall from block to block, but on some chains several blocks share one. It begins where the block would be if all
// came at even intervals, as on Base, and goes on from there in growing strides.
export async function blocksAtTimestamp(
  timestamp: bigint,
  { low, high }: { low: DatedBlock; high: DatedBlock },
  timestampAt: (number: bigint) => Promise<bigint>,
): Promise<{ first: bigint; last: bigint } | null> {
  if (timestamp < low.timestamp || timestamp > high.timestamp) return null;
  const known = new Map([low, high].map((block) => [block.number, block.timestamp]));
  const readOnce = async (number: bigint) => {
    const read = known.get(number) ?? (await timestampAt(number));
    known.set(number, read);
    return read;
  };
  const range = { low: low.number, high: high.number };
  const guess =
    high.timestamp === low.timestamp
      ? low.number
      : low.number + ((high.number - low.number) * (timestamp - low.timestamp)) / (high.timestamp - low.timestamp);
  const first = await firstOf(range, guess, async (number) => (await readOnce(number)) >= timestamp);
  if ((await readOnce(first)) !== timestamp) return null;
  const after = await firstOf(range, first, async (number) => (await readOnce(number)) > timestamp);
  return { first, last: after - 1n };
}

// The smallest number from which on `holds` is true; one above the range if that is nowhere. The number of steps grows
// with the logarithm of the distance to the guess.
async function firstOf(
  { low, high }: { low: bigint; high: bigint },
  guess: bigint,
  holds: (number: bigint) => Promise<boolean>,
): Promise<bigint> {
  let below = low - 1n;
  let above = high + 1n;
  let next = guess;
  let stride = 1n;
  while (above - below > 1n) {
    if (await holds(next)) above = next;
    else below = next;
    const isBounded = below >= low && above <= high;
    next = isBounded ? below + (above - below) / 2n : above <= high ? above - stride : below + stride;
    if (next <= below) next = below + 1n;
    if (next >= above) next = above - 1n;
    stride *= 2n;
  }
  return above;
}

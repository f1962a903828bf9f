// All randomness of a run comes from one seed, so that the run can be repeated exactly.
export type Rng = {
  // A number from 0 up to, but not including, 1.
  next(): number;
  // A whole number from 0 up to, but not including, `bound`.
  below(bound: number): number;
  between(low: number, high: number): number;
  happens(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
};

const UINT32 = 2 ** 32;

// Sfc32 by Chris Doty-Humphrey: small, fast, and good enough to choose faults.
export function createRng(seed: number): Rng {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / UINT32) | 0, 0x9e3779b9 | 0, 1];
  const draw = () => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result;
    return result >>> 0;
  };
  // Seeds that are close to each other begin alike; after some draws nothing of that is left.
  for (let i = 0; i < 12; i++) draw();

  const next = () => draw() / UINT32;
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    happens: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError("there is nothing to pick from");
      return items[below(items.length)] as T;
    },
    shuffled(items) {
      const result = [...items];
      for (let i = result.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [result[i], result[j]] = [result[j] as (typeof result)[0], result[i] as (typeof result)[0]];
      }
      return result;
    },
  };
}

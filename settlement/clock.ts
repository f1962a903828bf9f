// Time and randomness, passed in everywhere, so that the same code runs in production and under a simulator's seed.
export type Clock = { nowMs(): number };

// A number from 0 up to, but not including, 1.
export type Random = () => number;

export const systemClock: Clock = { nowMs: () => Date.now() };

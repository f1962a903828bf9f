// The daemon is told again after this long, and after twice as long each time that it is not there.
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const MAX_DOUBLINGS = 5;

// What was planned is first told by whoever planned it, for this long at the most.
export const FIRST_WAIT_MS = 40_000;
// How many reports are looked up at a time.
export const DUE_AT_A_TIME = 100;

export const retryDelayMs = (attempts: number) =>
  Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS));

// Time and randomness, passed in everywhere, so that the same code runs in production and under a simulator's seed.
export type Clock = { nowMs(): number };

// A number from 0 up to, but not including, 1.
export type Random = () => number;

// Less than this is the way to the other clock and back.
const TOLERANCE_MS = 1_000;

// A clock that goes by another one, which it is told of now and then. Daemons that share a ledger go by its database's clock: what
// one of them says is due must not be late by as much as their own clocks are apart.
export function createFollowingClock(own: Clock): Clock & { follow(otherNowMs: number): void } {
  let offsetMs = 0;
  return {
    nowMs: () => own.nowMs() + offsetMs,
    follow(otherNowMs) {
      const apartMs = otherNowMs - own.nowMs();
      offsetMs = Math.abs(apartMs) < TOLERANCE_MS ? 0 : apartMs;
    },
  };
}

export const systemClock: Clock = { nowMs: () => Date.now() };

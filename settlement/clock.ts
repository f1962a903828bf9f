// Time and randomness, passed in everywhere, so that the same code runs in production and under a simulator's seed.
export type Clock = {
  nowMs(): number;
  // What goes by evenly, whatever anybody sets the clock to. Where it is left out, that is the clock itself.
  elapsedMs?(): number;
};

// A number from 0 up to, but not including, 1.
export type Random = () => number;

// Less than this is the way to the other clock and back.
const TOLERANCE_MS = 1_000;

// A clock that goes by another one, which it is told of now and then. Daemons that share a ledger go by its database's clock: what
// one of them says is due must not be late by as much as their own clocks are apart. In between only time that goes by counts, so
// that nothing is late by as much as somebody sets the clock of a machine ahead.
export function createFollowingClock(own: Clock): Clock & { follow(otherNowMs: number): void } {
  const elapsedMs = () => own.elapsedMs?.() ?? own.nowMs();
  let followed: { nowMs: number; atMs: number } | null = null;
  return {
    nowMs: () => (followed === null ? own.nowMs() : followed.nowMs + elapsedMs() - followed.atMs),
    follow(otherNowMs) {
      const nowMs = own.nowMs();
      const isApart = Math.abs(otherNowMs - nowMs) >= TOLERANCE_MS;
      followed = { nowMs: isApart ? otherNowMs : nowMs, atMs: elapsedMs() };
    },
  };
}

export const systemClock: Required<Clock> = {
  nowMs: () => Date.now(),
  elapsedMs: () => Math.floor(performance.now()),
};

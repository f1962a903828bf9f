import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { createRateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";

// Runs what an owner wants checked when it is that owner's turn, or throws what to wait for.
export type Turns = <T>(owner: Address, work: () => Promise<T>) => Promise<T>;

// After so many, one in ten seconds: to check a tool takes a server's time, the tool's, and compiles all that it promises.
const BURST = 10;
const PER_SECOND = 0.1;
// Of one owner, with the one that is being checked.
const MAX_OF_AN_OWNER = 10;
// Of all owners. Each may last as long as its server takes to answer.
const MAX_AT_A_TIME = 32;
const SOON_MS = 10_000;

// One registration or refresh of an owner after the other, so that whoever has many of them waits for himself.
export function createTurns(clock: Clock): Turns {
  const rateLimit = createRateLimit({ perSecond: PER_SECOND, burst: BURST, clock });
  const owners = new Map<Address, { last: Promise<unknown>; count: number }>();

  return async (owner, work) => {
    const turn = owners.get(owner) ?? { last: Promise.resolve(), count: 0 };
    if (turn.count === MAX_OF_AN_OWNER) {
      throw refused("as many tools of yours as may are waiting to be checked; wait for those", SOON_MS);
    }
    if (turn.count === 0 && owners.size === MAX_AT_A_TIME) {
      throw refused("as many tools as may are being checked for others; try again in a moment", SOON_MS);
    }
    const waitMs = rateLimit(owner);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      throw refused(`your tools were checked often just now; register or refresh again in ${seconds} s`, waitMs);
    }
    owners.set(owner, turn);
    turn.count += 1;
    const done = turn.last.then(work);
    turn.last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      turn.count -= 1;
      if (turn.count === 0) owners.delete(owner);
    }
  };
}

const refused = (message: string, retryAfterMs: number) => new ApiError("rate_limited", message, { retryAfterMs });

import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../settlement/clock.ts";
import { ApiError } from "../../settlement/daemon/http/errors.ts";
import { createRateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";
import type { VerifyContract } from "./signIn.ts";

const PER_SECOND = 10;
const MAX_WAIT_MS = 3_000;

// What no key has signed may be a contract's signature, which the chain alone can say, and any stranger can send as much of that as he
// likes from as many addresses as he has. The endpoint's quota may be settlement's too, so there is a pace for all of them together.
// Accounts with a key are not kept waiting.
export function paceContracts(
  verify: VerifyContract,
  clock: Clock,
  wait: (ms: number) => Promise<unknown> = (ms) => pause(ms),
): VerifyContract {
  const rateLimit = createRateLimit({ perSecond: PER_SECOND, maxWaitMs: MAX_WAIT_MS, clock });
  return async (signed) => {
    const waitMs = rateLimit("all");
    if (waitMs > MAX_WAIT_MS) {
      throw new ApiError(
        "rate_limited",
        "too many signatures of contracts are looked at now; sign in again in a moment",
        {
          retryAfterMs: waitMs,
        },
      );
    }
    if (waitMs > 0) await wait(waitMs);
    return verify(signed);
  };
}

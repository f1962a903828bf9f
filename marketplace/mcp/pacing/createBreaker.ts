import { McpFailure } from "../McpFailure.ts";

// Leaves an endpoint alone that is down, so that its buyers hear so at once instead of after a minute, and so that it is not
// knocked over again while it gets up. Calls that fail are only a reason to ask it whether it is there: what a call fails of may
// be the doing of whoever chose its arguments, who must not be able to close a tool to everybody else.
export type Breaker = {
  // Throws while the endpoint is left alone. If that is in question, it is asked once for all who wait here, and whoever
  // asks it says whether it is there.
  check(isThere: () => Promise<boolean>): Promise<void>;
  succeeded(): void;
  failed(): void;
};

const FAILURES_TO_ASK = 5;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 300_000;

export function createBreaker(): Breaker {
  let failures = 0;
  let openMs = 0;
  let openUntilMs = 0;
  let asking: Promise<boolean> | undefined;

  function close(): void {
    failures = 0;
    openMs = 0;
    openUntilMs = 0;
  }

  async function ask(isThere: () => Promise<boolean>): Promise<boolean> {
    try {
      const there = await isThere();
      if (there) close();
      else {
        openMs = Math.min(MAX_OPEN_MS, Math.max(FIRST_OPEN_MS, 2 * openMs));
        openUntilMs = performance.now() + openMs;
      }
      return there;
    } finally {
      asking = undefined;
    }
  }

  return {
    async check(isThere) {
      if (failures < FAILURES_TO_ASK) return;
      if (openUntilMs <= performance.now()) {
        asking ??= ask(isThere);
        if (await asking) return;
      }
      const seconds = Math.max(1, Math.ceil((openUntilMs - performance.now()) / 1_000));
      throw new McpFailure("circuitOpen", `the tool's server is down; it is asked again in ${seconds} s`);
    },
    succeeded: close,
    failed() {
      failures++;
    },
  };
}

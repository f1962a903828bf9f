import { McpFailure } from "../McpFailure.ts";

// Leaves an endpoint alone that fails every time, so that its buyers hear so at once instead of after a minute, and so that
// it is not knocked over again while it gets up.
export type Breaker = {
  // Throws while the circuit is open. Once its time has passed, one call at a time goes through to try.
  check(): void;
  succeeded(): void;
  failed(): void;
  // Neither: what was tried says nothing about the endpoint.
  abstained(): void;
};

const FAILURES_TO_OPEN = 5;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 300_000;

export function createBreaker(): Breaker {
  let failures = 0;
  let openMs = 0;
  let openUntilMs = 0;
  let trying = false;

  return {
    check() {
      if (openMs === 0) return;
      const remainingMs = openUntilMs - performance.now();
      if (remainingMs > 0 || trying) {
        const wait = Math.max(1, Math.ceil(remainingMs / 1_000));
        throw new McpFailure("circuitOpen", `the tool's server has failed repeatedly; it is tried again in ${wait} s`);
      }
      trying = true;
    },
    succeeded() {
      failures = 0;
      openMs = 0;
      trying = false;
    },
    failed() {
      failures++;
      if (trying || (openMs === 0 && failures >= FAILURES_TO_OPEN)) {
        openMs = Math.min(MAX_OPEN_MS, Math.max(FIRST_OPEN_MS, 2 * openMs));
        openUntilMs = performance.now() + openMs;
      }
      trying = false;
    },
    abstained() {
      trying = false;
    },
  };
}

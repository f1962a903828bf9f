import { monitorEventLoopDelay } from "node:perf_hooks";

// Finer than anything that anybody would notice, and so rare that looking costs nothing.
const RESOLUTION_MS = 5;
const NS_PER_MS = 1e6;

// The longest that nothing else could run in this process. What other processes take of the processor counts as well, so that a
// busy machine makes it longer.
export function watchLoop(): { stop(): number } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return {
    stop() {
      delays.disable();
      return Math.max(0, Math.round(delays.max / NS_PER_MS - RESOLUTION_MS));
    },
  };
}

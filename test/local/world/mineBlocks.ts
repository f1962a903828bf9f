import { setTimeout as pause } from "node:timers/promises";
import type { LocalWorld } from "../../../scripts/world/startWorld.ts";

// Makes a block every now and then, one after the other however slow the machine is, until it is stopped. A node that does
// not answer misses its blocks.
export function mineBlocks({ rpc }: LocalWorld, { everyMs }: { everyMs: number }): { stop(): Promise<void> } {
  const over = new AbortController();
  const ended = (async () => {
    while (!over.signal.aborted) {
      await rpc("anvil_mine", ["0x1"]).catch(() => undefined);
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      over.abort();
      await ended;
    },
  };
}

import { McpFailure } from "../McpFailure.ts";
import type { Body } from "./request.ts";

// A place among the few large answers that are read at a time.
export type Place = {
  // Whether somebody else waits for one.
  isWanted(): boolean;
  leave(): void;
};

// Waits for a place; throws the signal's reason if that comes first.
export type Large = (signal: AbortSignal) => Promise<Place>;

// Follows how an answer grows, and has it wait for a place once it is large.
export type Growth = {
  grown(bytes: number): Promise<void>;
  // Why it was ended, if it was ended here: the body itself says no more than that it was.
  failure(): McpFailure | undefined;
  // What has come was read. What comes now is another answer, or nothing.
  end(): void;
};

// Answers of which more than this has come are read a few at a time, and the others wait where they are.
const LARGE_BYTES = 1_024 * 1_024;
// Whoever has a place that others wait for must bring this much in this time, so that nobody keeps one by dripping.
const PROGRESS_BYTES = 1_024 * 1_024;
const PROGRESS_MS = 5_000;

export function createGrowth(body: Body, large: Large, signal: AbortSignal): Growth {
  let bytes = 0;
  let seenBytes = 0;
  let place: Place | undefined;
  let failure: McpFailure | undefined;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    if (place?.isWanted() && bytes - seenBytes < PROGRESS_BYTES) {
      failure = new McpFailure("tooLarge", "the server's answer is large and comes too slowly while others wait");
      body.destroy();
    }
    seenBytes = bytes;
  }

  return {
    async grown(by) {
      bytes += by;
      if (place !== undefined || bytes <= LARGE_BYTES) return;
      place = await large(signal);
      seenBytes = bytes;
      timer = setInterval(look, PROGRESS_MS).unref();
    },
    failure: () => failure,
    end() {
      clearInterval(timer);
      place?.leave();
      place = undefined;
      bytes = 0;
    },
  };
}

import type { Answered, CallOutcome } from "../mcp/outcome.ts";
import type { Method } from "../registry/listing.ts";
import type { Judge } from "../schema/createJudge.ts";
import { takes } from "./judgeAnswer.ts";

// Whether a failure is the tool's. What its buyer cancelled, what waited here, and a tool that wants a person are not; nor is what
// a method does not take, or whoever sends it would spoil, for nothing, what others think of the tool.
export function isTheToolsDoing(
  outcome: Exclude<CallOutcome, Answered>,
  judge: Judge,
  method: Method,
  args: unknown,
): boolean {
  switch (outcome.kind) {
    case "cancelled":
    case "handshakeRequired":
      return false;
    case "infrastructure":
      return outcome.reason !== "circuitOpen" && outcome.reason !== "overloaded";
    // What never left here has waited here: for its turn, or for room.
    case "timedOut":
      return outcome.sent;
    case "toolFailed":
      return takes(judge, method, args);
  }
}

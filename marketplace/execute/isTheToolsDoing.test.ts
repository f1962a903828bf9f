import { expect, it } from "vitest";
import type { Answered, CallOutcome, InfrastructureReason } from "../mcp/outcome.ts";
import { newListing } from "../registry/testing/newListing.ts";
import { createJudge } from "../schema/createJudge.ts";
import { isTheToolsDoing } from "./isTheToolsDoing.ts";

const failed = (reason: InfrastructureReason) =>
  ({ kind: "infrastructure", reason, message: "", sent: false }) as const;

it.each<[string, Exclude<CallOutcome, Answered>, boolean]>([
  ["a tool that does not answer in time", { kind: "timedOut", afterMs: 60_000, sent: true }, true],
  ["a call that waited here until its time was over", { kind: "timedOut", afterMs: 60_000, sent: false }, false],
  ["a call that its buyer cancelled", { kind: "cancelled", sent: true }, false],
  ["a server that is not there", failed("unreachable"), true],
  ["a server that is left alone", failed("circuitOpen"), false],
  ["a queue that is full", failed("overloaded"), false],
  ["a tool that says that it failed", { kind: "toolFailed", message: "no" }, true],
])("%s", (_, outcome, expected) => {
  const [method] = newListing("tool").methods;
  if (method === undefined) throw new Error("it has no method");
  expect(isTheToolsDoing(outcome, createJudge(), method, {})).toBe(expected);
});

import { expect, it } from "vitest";
import type { Audit } from "../../engine/watch/audit.ts";
import { createAuditor } from "./auditor.ts";

function auditorOf(find: () => Promise<Audit>, counters: string[] = []) {
  let nowMs = 1_000;
  let runs = 0;
  const audit = () => {
    runs += 1;
    return find();
  };
  const clock = { nowMs: () => nowMs };
  const auditor = createAuditor({ engine: { audit }, ledger: { audit: async () => counters }, clock, fromBlock: 0n });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  const ended = () => expect.poll(() => auditor.runningSinceMs()).toBeNull();
  return { auditor, advance, ended, runs: () => runs };
}

it("runs one audit at a time, and the next one only after a pause", async () => {
  const { auditor, advance, ended, runs } = auditorOf(async () => ({ kind: "equal", batches: 7 }));
  expect(auditor.last()).toBeNull();
  auditor.start();
  auditor.start();
  expect(auditor.runningSinceMs()).toBe(1_000);
  await ended();
  auditor.start();
  expect(runs()).toBe(1);
  expect(auditor.last()).toMatchObject({ startedAtMs: 1_000, batches: 7, differences: [], failure: null });
  advance(10_000);
  auditor.start();
  await ended();
  expect(runs()).toBe(2);
});

it("shows what differs, in the counters and on chain", async () => {
  const { auditor, ended } = auditorOf(async () => ({ kind: "different", differences: ["a batch"] }), ["a counter"]);
  auditor.start();
  await ended();
  expect(auditor.last()).toMatchObject({ batches: null, differences: ["a counter", "a batch"] });
});

it("an audit that cannot be done gives no verdict, and says why", async () => {
  const { auditor, ended } = auditorOf(async () => Promise.reject(new Error("no endpoint answers")));
  auditor.start();
  await ended();
  expect(auditor.last()).toMatchObject({ batches: null, differences: [], failure: "no endpoint answers" });
});

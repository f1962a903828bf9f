import { expect, it } from "vitest";
import { paceContracts } from "./paceContracts.ts";

it("the chain is asked of contracts' signatures at a pace, whoever sends them, and beyond that they are refused at once", async () => {
  let [nowMs, asked] = [0, 0];
  const waits: number[] = [];
  const verify = paceContracts(
    async () => {
      asked += 1;
      return true;
    },
    { nowMs: () => nowMs },
    async (ms) => void waits.push(ms),
  );
  const send = (i: number) =>
    verify({ address: `0x${i.toString(16).padStart(40, "0")}`, message: "hello", signature: "0x1271" });
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, (_, i) => send(i)));
  // A second's and as much again at once, and those of three seconds that wait for them.
  expect(asked).toBe(20 + 30);
  expect(waits).toHaveLength(30);
  expect(Math.max(...waits)).toBeLessThanOrEqual(3_000);
  const [refused] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(refused).toMatchObject({ code: "rate_limited", retryAfterMs: expect.any(Number) });
  nowMs += 10_000;
  expect(await send(1)).toBe(true);
});

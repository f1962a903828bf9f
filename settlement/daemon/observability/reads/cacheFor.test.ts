import { expect, it } from "vitest";
import { cacheFor } from "./cacheFor.ts";

it("asks once for all who ask the same within a moment, and again after it", async () => {
  let nowMs = 0;
  const asked: number[] = [];
  const read = cacheFor(1_000, { nowMs: () => nowMs }, async (n: number) => asked.push(n));
  await Promise.all([read(1), read(1), read(2)]);
  expect(asked).toEqual([1, 2]);
  nowMs = 999;
  await read(1);
  expect(asked).toEqual([1, 2]);
  nowMs = 1_000;
  await read(1);
  expect(asked).toEqual([1, 2, 1]);
});

it("keeps no failure, and nothing for longer because the clock was set back", async () => {
  let nowMs = 5_000;
  let runs = 0;
  const read = cacheFor(1_000, { nowMs: () => nowMs }, async () => {
    runs += 1;
    if (runs === 1) throw new Error("not now");
    return runs;
  });
  await expect(read()).rejects.toThrow("not now");
  expect(await read()).toBe(2);
  nowMs = 0;
  expect(await read()).toBe(3);
});

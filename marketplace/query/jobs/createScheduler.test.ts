import { expect, it } from "vitest";
import { createScheduler } from "./createScheduler.ts";

it("what nobody pays for leaves places to what somebody does, however many ask for it", async () => {
  const scheduler = createScheduler(4, 2, 3);
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  const work = (name: string) => () => {
    begun.push(name);
    return held.promise;
  };
  for (const owner of ["a", "b", "c", "d"]) scheduler.add(owner, work(`free ${owner}`), { isFree: true });
  scheduler.add("e", work("paid e"));
  scheduler.add("f", work("paid f"));
  expect(begun).toEqual(["free a", "free b", "free c", "paid e"]);
  held.resolve();
  await scheduler.idle();
  expect(begun).toHaveLength(6);
});

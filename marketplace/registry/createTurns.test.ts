import type { Address } from "viem";
import { expect, it } from "vitest";
import { createTurns } from "./createTurns.ts";

const owner = (i: number) => `0x${i.toString(16).padStart(40, "0")}` as Address;

function open() {
  let nowMs = 0;
  const inTurn = createTurns({ nowMs: () => nowMs });
  const running: { owner: Address; end: (error?: Error) => void }[] = [];
  const ask = (who: Address) =>
    inTurn(who, () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      running.push({ owner: who, end: (error) => (error === undefined ? resolve() : reject(error)) });
      return promise;
    });
  // Until everybody whose turn it is has begun.
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ask,
    running,
    settled,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

it("an owner's tools are checked one after the other, whatever became of the one before, and others' beside them", async () => {
  const { ask, running, settled } = open();
  const all = [ask(owner(1)), ask(owner(1)), ask(owner(2))];
  await settled();
  expect(running.map(({ owner }) => owner)).toEqual([owner(1), owner(2)]);
  running[0]?.end(new Error("it failed"));
  await expect(all[0]).rejects.toThrow("it failed");
  await settled();
  expect(running).toHaveLength(3);
  for (const { end } of running) end();
  await Promise.all(all.slice(1));
});

it("so many of an owner, and so many owners, and then a sentence that says when to come again", async () => {
  const { ask, running, settled } = open();
  const ofOne = Array.from({ length: 10 }, () => ask(owner(0)));
  await expect(ask(owner(0))).rejects.toMatchObject({
    status: 429,
    retryAfterMs: 10_000,
    message: expect.stringMatching(/of yours/),
  });
  const others = Array.from({ length: 31 }, (_, i) => ask(owner(i + 1)));
  await expect(ask(owner(99))).rejects.toMatchObject({
    status: 429,
    retryAfterMs: 10_000,
    message: expect.stringMatching(/for others/),
  });
  await settled();
  running.at(-1)?.end();
  await others.at(-1);
  const late = ask(owner(99));
  for (let ended = 0; ended < 10 + 31 + 1; ) {
    await settled();
    for (; ended < running.length; ended += 1) running[ended]?.end();
  }
  await Promise.all([...ofOne, ...others, late]);
});

it("after a few at once an owner waits, and hears how long", async () => {
  const { ask, running, settled, pass } = open();
  for (let i = 0; i < 10; i += 1) {
    const asked = ask(owner(1));
    await settled();
    running.at(-1)?.end();
    await asked;
  }
  pass(4_000);
  await expect(ask(owner(1))).rejects.toMatchObject({
    status: 429,
    retryAfterMs: 6_000,
    message: expect.stringMatching(/again in 6 s$/),
  });
  pass(6_000);
  const asked = ask(owner(1));
  await settled();
  running.at(-1)?.end();
  await asked;
});

import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { createStandings } from "./createStandings.ts";

// A chain on which a tool's owner is its id, and that answers when it is told to. Time passes for those who wait.
function reading() {
  let nowMs = 0;
  const waits: number[] = [];
  const reads: string[][] = [];
  const chain = { answer: async () => {} };
  const standingOf = createStandings(
    {
      tools: async (ids) => {
        const toolIds = ids.map(uuidFromToolId);
        reads.push(toolIds);
        await chain.answer();
        return toolIds.map((owner) => ({ owner })) as never;
      },
    },
    { nowMs: () => nowMs },
    async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
  );
  return { chain, reads, waits, standingOf };
}

it("whoever asks while a read runs shares the next one, and each is told of his own tool", async () => {
  const { chain, reads, standingOf } = reading();
  const release = Promise.withResolvers<void>();
  chain.answer = () => release.promise;
  const [first, ...ids] = Array.from({ length: 500 }, () => randomUUID());
  const answers = [first, ...ids, ...ids].map((id) => standingOf(id as string));
  release.resolve();
  expect((await Promise.all(answers)).map((tool) => tool?.owner)).toEqual([first, ...ids, ...ids]);
  expect(reads.map((read) => read.length)).toEqual([1, 499]);
});

it("a read that fails is the failure of those who waited for it, and of nobody after them", async () => {
  const { chain, standingOf } = reading();
  chain.answer = async () => {
    throw new Error("no endpoint answers");
  };
  const [one, other] = [randomUUID(), randomUUID()];
  await expect(standingOf(one)).rejects.toThrow("no endpoint answers");
  chain.answer = async () => {};
  expect(await standingOf(one)).toMatchObject({ owner: one });
  expect(await standingOf(other)).toMatchObject({ owner: other });
});

it("however many ask one after the other, there are a few reads a second", async () => {
  const { reads, waits, standingOf } = reading();
  for (let times = 1; times <= 20; times += 1) await standingOf(randomUUID());
  expect(waits).toEqual([]);
  for (let times = 1; times <= 3; times += 1) {
    await Promise.all(Array.from({ length: 100 }, () => standingOf(randomUUID())));
  }
  // Those who come while somebody waits are read with him.
  expect(reads.slice(20).map((read) => read.length)).toEqual([100, 100, 100]);
  expect(waits).toEqual([200, 200, 200]);
});

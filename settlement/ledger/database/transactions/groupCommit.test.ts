import { describe, expect, it } from "vitest";
import { SettlementError } from "../../../domain/errors.ts";
import type { Attempt } from "../sql.ts";
import { createGroupCommit } from "./groupCommit.ts";

type Fake = {
  transaction: (work: (tx: string[], attempt: Attempt) => Promise<void>) => Promise<void>;
  // What is durable, and the sizes of the transactions that made it so.
  disk: string[];
  groups: number[];
  // Lets the commit that is waiting go through, or fail.
  finish: (error?: Error) => Promise<void>;
};

// Transactions whose commit takes until the test says so.
function fakeDisk(): Fake {
  let waiting: PromiseWithResolvers<void> | null = null;
  let arrived = Promise.withResolvers<void>();
  const fake: Fake = {
    disk: [],
    groups: [],
    async transaction(work) {
      const written: string[] = [];
      await work(written, { mayHaveCommitted: false });
      waiting = Promise.withResolvers<void>();
      arrived.resolve();
      await waiting.promise;
      fake.disk.push(...written);
      fake.groups.push(written.length);
    },
    async finish(error) {
      await arrived.promise;
      arrived = Promise.withResolvers<void>();
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(error);
    },
  };
  return fake;
}

const bounds = { maxGroup: 3, maxQueue: 5 };

function writer(fake: Fake, options: Partial<typeof bounds> = {}) {
  const group = createGroupCommit<string[]>({
    locks: () => async () => {},
    transaction: fake.transaction,
    ...bounds,
    ...options,
  });
  return (name: string) =>
    group.submit((tx) => {
      tx.push(name);
      return name;
    });
}

describe("group commit", () => {
  it("a call of many things counts as many, in a group and in the queue, and is never divided", async () => {
    const fake = fakeDisk();
    const { submitTo, drained } = createGroupCommit<string[]>({
      locks: () => async () => {},
      transaction: fake.transaction,
      ...bounds,
    });
    const write = async (tx: string[], items: readonly (readonly string[])[]) => {
      tx.push(...items.flat());
      return items;
    };
    const submit = (...names: string[]) =>
      submitTo(write, names, { done: "written", again: "duplicate", size: names.length });
    const answers = [submit("a", "b"), submit("c", "d"), submit("e")];
    await expect(submit("f")).rejects.toMatchObject({ code: "ledger_unavailable", retryable: true });
    await fake.finish();
    await fake.finish();
    expect(await Promise.all(answers)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(fake.groups).toEqual([2, 3]);
    await drained();
  });

  it("a call of many things that finds some of them done by its own first try says so of each", async () => {
    let tries = 0;
    const { submitTo } = createGroupCommit<null>({
      locks: () => async () => {},
      async transaction(work) {
        tries += 1;
        await work(null, { mayHaveCommitted: false });
        tries += 1;
        await work(null, { mayHaveCommitted: true });
      },
      ...bounds,
    });
    const verb = async (_: null, items: readonly unknown[]) =>
      items.map(() =>
        tries === 1 ? [{ kind: "done" }, { kind: "duplicate" }] : [{ kind: "duplicate" }, { kind: "duplicate" }],
      );
    const answer = await submitTo(verb, null, { done: "done", again: "duplicate", size: 2 });
    expect(answer).toEqual([{ kind: "done" }, { kind: "duplicate" }]);
  });

  it("with two lanes, what waits goes out in two groups at once, and what comes later shares the next", async () => {
    const groups: { names: string[]; commit: () => void }[] = [];
    const { submit, drained } = createGroupCommit<string[]>({
      async transaction(work, lane) {
        const names: string[] = [];
        await work(names, { mayHaveCommitted: false });
        const { promise, resolve } = Promise.withResolvers<void>();
        groups.push({ names: [`lane ${lane}`, ...names], commit: resolve });
        await promise;
      },
      locks: () => async () => {},
      lanes: 2,
      maxGroup: 100,
      maxQueue: 100,
    });
    const write = (name: string) => submit((tx) => tx.push(name));
    const answers = Array.from({ length: 40 }, (_, i) => write(`${i}`));
    await expect.poll(() => groups.length).toBe(2);
    expect(groups.map(({ names }) => [names[0], names.length])).toEqual([
      ["lane 0", 21],
      ["lane 1", 21],
    ]);
    const later = [write("a"), write("b")];
    groups[1]?.commit();
    await expect.poll(() => groups.length).toBe(3);
    expect(groups[2]?.names).toEqual(["lane 1", "a", "b"]);
    for (const { commit } of groups) commit();
    await drained();
    await Promise.all([...answers, ...later]);
  });

  it("a call is answered only after the commit that it shares", async () => {
    const fake = fakeDisk();
    const write = writer(fake);
    const acknowledged: string[] = [];
    const calls = ["a", "b"].map(async (name) => {
      await write(name);
      // Whoever hears of it can find it on disk.
      expect(fake.disk).toContain(name);
      acknowledged.push(name);
    });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(acknowledged).toEqual([]);
    await fake.finish();
    await Promise.all(calls);
    expect(fake.groups).toEqual([2]);
  });

  it("calls that arrive during a commit share the next one, in their order and up to the largest group", async () => {
    const fake = fakeDisk();
    const write = writer(fake);
    const first = write("a");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const rest = ["b", "c", "d", "e"].map(write);
    await fake.finish();
    await first;
    await fake.finish();
    await fake.finish();
    await Promise.all(rest);
    expect(fake.disk).toEqual(["a", "b", "c", "d", "e"]);
    expect(fake.groups).toEqual([1, 3, 1]);
  });

  it("a full queue turns calls away, to be tried again later, and serves those that it took", async () => {
    const fake = fakeDisk();
    const write = writer(fake, { maxQueue: 2 });
    const taken = ["a", "b"].map(write);
    await expect(write("c")).rejects.toMatchObject({ code: "ledger_unavailable", retryable: true });
    await fake.finish();
    expect(await Promise.all(taken)).toEqual(["a", "b"]);
    expect(fake.disk).toEqual(["a", "b"]);
  });

  it("a commit that fails is answered to all its calls and to no other", async () => {
    const fake = fakeDisk();
    const write = writer(fake);
    const full = new SettlementError("ledger_unavailable", "disk full", { retryable: true });
    const lost = ["a", "b"].map((name) => expect(write(name)).rejects.toBe(full));
    await fake.finish(full);
    await Promise.all(lost);
    const next = write("c");
    await fake.finish();
    expect(await next).toBe("c");
    expect(fake.disk).toEqual(["c"]);
  });

  it("a call that breaks its transaction fails alone", async () => {
    const disk: string[] = [];
    const group = createGroupCommit<string[]>({
      locks: () => async () => {},
      ...bounds,
      async transaction(work) {
        const written: string[] = [];
        await work(written, { mayHaveCommitted: false });
        disk.push(...written);
      },
    });
    const good = ["a", "b"].map((name) => group.submit((tx) => tx.push(name)));
    const bad = group.submit(() => {
      throw new TypeError("a bug");
    });
    await expect(bad).rejects.toThrow("a bug");
    await Promise.all(good);
    expect(disk).toEqual(["a", "b"]);
  });

  it.each([
    { first: "recorded", again: "duplicate", answered: "recorded" },
    // Somebody else did it in between.
    { first: "refused", again: "duplicate", answered: "duplicate" },
    { first: "recorded", again: "conflict", answered: "conflict" },
  ])(
    "a call that is run again after an unknown commit, $first and then $again, is answered $answered",
    async (kinds) => {
      const group = createGroupCommit<string[]>({
        locks: () => async () => {},
        ...bounds,
        async transaction(work) {
          await work([], { mayHaveCommitted: false });
          await work(["committed"], { mayHaveCommitted: true });
        },
      });
      const verb = (tx: string[]) => ({ kind: tx.length === 0 ? kinds.first : kinds.again });
      expect(await group.submit(verb, { done: "recorded", again: "duplicate" })).toEqual({ kind: kinds.answered });
    },
  );

  it("calls to one verb that follow one another are handed to it together, and each gets its own answer", async () => {
    const fake = fakeDisk();
    const group = createGroupCommit<string[]>({
      locks: () => async () => {},
      transaction: fake.transaction,
      ...bounds,
      maxGroup: 10,
    });
    const runs: string[][] = [];
    const double = async (tx: string[], names: readonly string[]) => {
      runs.push([...names]);
      tx.push(...names);
      return names.map((name) => name + name);
    };
    const answers = Promise.all([
      group.submitTo(double, "a"),
      group.submitTo(double, "b"),
      group.submit((tx) => tx.push("c")),
      group.submitTo(double, "d"),
    ]);
    await fake.finish();
    expect(await answers).toEqual(["aa", "bb", 3, "dd"]);
    expect(runs).toEqual([["a", "b"], ["d"]]);
    expect(fake.disk).toEqual(["a", "b", "c", "d"]);
  });

  it("is drained when everything that was submitted has been answered", async () => {
    const fake = fakeDisk();
    const group = createGroupCommit<string[]>({
      locks: () => async () => {},
      transaction: fake.transaction,
      ...bounds,
    });
    let answered = false;
    void group
      .submit((tx) => tx.push("a"))
      .then(() => {
        answered = true;
      });
    const drained = group.drained();
    await fake.finish();
    await drained;
    expect(answered).toBe(true);
  });
});

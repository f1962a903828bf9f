import type { Address, Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type History, openHistory } from "./openHistory.ts";

// Two keys, of which the first is lost.
describe("a key that no process has any more", () => {
  let history: History;
  let lost: Address;
  let left: Address;
  let alice: Address;
  let bob: Address;
  beforeEach(async () => {
    history = await openHistory({ operators: 2 });
    [lost, left] = history.operators as [Address, Address];
    [alice, bob] = history.payers as [Address, Address];
  });
  afterEach(() => history.close());

  const retire = async () => {
    history.said.length = 0;
    const { retired } = await history.reconcile({ adopt: true, retire: lost, resume: true }, [left]);
    return { retired, said: history.said.join("\n") };
  };
  const rest = () => history.daemon({ keys: [left], name: "rest" });
  const suspendForGood = () => {
    history.setLimit(lost, 0n);
    history.mine(20);
  };
  const newestBatch = async () => (await history.ledger.listBatches(1, 0))[0]?.batchId as Hex;

  it("keeps a restored ledger waiting until it is suspended for good and retired", async () => {
    await history.deliver(alice, 100n);
    const first = history.daemon({ keys: [lost], name: "first" });
    expect(await history.settle([first])).toBe(true);
    const copy = history.copy();
    await history.restore(copy);
    await history.deliver(bob, 30n);
    const daemon = rest();
    expect(await history.settle([daemon])).toBe(false);
    expect(await retire()).toMatchObject({ retired: false, said: expect.stringContaining("it may still settle") });
    history.setLimit(lost, 0n);
    history.mine();
    // Not for good.
    expect(await retire()).toMatchObject({ retired: false, said: expect.stringContaining("it may still settle") });
    history.mine(20);
    expect(await retire()).toMatchObject({
      retired: true,
      said: expect.stringContaining("is retired; 0 transactions"),
    });
    expect(await history.settle([daemon])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  it("is not retired by who has it, nor while somebody writes for it", async () => {
    await history.deliver(alice, 100n);
    const first = history.daemon({ keys: [lost], name: "first" });
    await history.settle([first]);
    history.setLimit(lost, 0n);
    history.mine(13);
    await first.tick();
    expect(await retire()).toMatchObject({ retired: false, said: expect.stringContaining("a process still writes") });
    history.mine(10);
    expect((await history.reconcile({ retire: lost })).retired).toBe(false);
    expect(history.said.join("\n")).toContain("its key is in the configuration");
    expect((await retire()).retired).toBe(true);
    await first.tick();
    expect(history.events.at(-1)).toMatchObject({ kind: "holding", reason: expect.stringContaining("it was retired") });
  });

  it("had a batch on its way, which the others settle; its own bytes charge nobody", async () => {
    await history.deliver(alice, 100n);
    const first = history.daemon({ keys: [lost], name: "first" });
    await history.deliver(bob, 50n);
    await first.tick();
    const [waiting] = history.chain.pooled();
    if (waiting === undefined) throw new RangeError("nothing was sent");
    history.chain.drop(waiting);
    const batchId = await newestBatch();
    suspendForGood();
    expect(await retire()).toMatchObject({ retired: true, said: expect.stringContaining("1 transactions") });
    expect((await history.ledger.findSubmission(batchId))?.state.kind).toBe("abandoned");
    expect(await history.settle([rest()])).toBe(true);
    // Somebody has kept the bytes.
    history.chain.inject({ ...waiting, fleeting: false });
    history.mine(3);
    expect(history.overpaid()).toEqual([]);
  });

  it("had a batch mined before it was suspended: that is final first, and paid for", async () => {
    await history.deliver(alice, 100n);
    await history.daemon({ keys: [lost], name: "first" }).tick();
    history.mine(3);
    suspendForGood();
    expect((await retire()).retired).toBe(true);
    expect((await history.ledger.readTotals()).pending).toBe(0n);
    expect(history.overpaid()).toEqual([]);
  });

  it("was used after the copy was made, which does not know it: whoever names it has its batches taken in", async () => {
    await history.deliver(alice, 100n);
    const copy = history.copy();
    expect(await history.settle([history.daemon({ keys: [lost], name: "first" })])).toBe(true);
    await history.restore(copy);
    suspendForGood();
    expect((await history.reconcile({ retire: lost }, [left])).retired).toBe(false);
    expect(history.said.join("\n")).toContain("must be taken in first; --adopt does that");
    expect(await retire()).toMatchObject({
      retired: true,
      said: expect.stringContaining("is taken in: it paid 1 charges"),
    });
    await history.deliver(bob, 10n);
    expect(await history.settle([rest()])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  it("has planned a batch in the copy and settled another one since: neither waits for the other", async () => {
    await history.deliver(alice, 100n);
    const first = history.daemon({ keys: [lost], name: "first" });
    await history.settle([first]);
    await history.deliver(alice, 60n);
    await history.daemon({ keys: [lost], name: "first", diesAt: "after_plan" }).tick();
    const copy = history.copy();
    const batchId = await newestBatch();
    const planned = history.copy();
    await history.restore(planned);
    // The batch is taken apart while what was forgotten is fenced off, and made again with another charge.
    await first.tick();
    await history.deliver(bob, 20n);
    expect(await history.settle([first])).toBe(true);
    expect((await history.ledger.findSubmission(batchId))?.state.kind).toBe("abandoned");
    await history.restore(copy);
    suspendForGood();
    expect((await retire()).retired).toBe(false);
    expect((await retire()).retired).toBe(true);
    await history.deliver(bob, 5n);
    expect(await history.settle([rest()])).toBe(true);
    expect(history.overpaid().every((amount) => amount <= 0n)).toBe(true);
  });

  it("halts all if it may settle again", async () => {
    await history.deliver(alice, 100n);
    await history.settle([history.daemon({ keys: [lost], name: "first" })]);
    suspendForGood();
    expect((await retire()).retired).toBe(true);
    const daemon = rest();
    await daemon.tick();
    expect(await history.ledger.readHalt()).toBeNull();
    history.setLimit(lost, 5n);
    history.mine();
    await daemon.tick();
    expect((await history.ledger.readHalt())?.reason).toContain("was retired, and may settle again");
  });

  it("stays retired through another restore, and nobody is fenced off for it", async () => {
    await history.deliver(alice, 100n);
    await history.settle([history.daemon({ keys: [lost], name: "first" })]);
    suspendForGood();
    await retire();
    await history.restore(history.copy());
    await history.deliver(bob, 20n);
    expect(await history.settle([rest()])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });
});

import type { Hex } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { type History, openHistory } from "./openHistory.ts";

let history: History;
afterEach(() => history.close());

const stateOf = async (batchId: Hex) => (await history.ledger.findSubmission(batchId))?.state.kind;
const newestBatch = async () => (await history.ledger.listBatches(1, 0))[0]?.batchId as Hex;

// A person's commands and blocks, until nothing differs any more.
async function reconciled(daemons: readonly { tick(): Promise<void> }[]): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    const { differences } = await history.reconcile({ adopt: true, reopen: true, resume: true });
    if (differences.length === 0 && (await history.ledger.readHalt()) === null) return;
    for (const daemon of daemons) await daemon.tick();
    history.mine(2);
  }
  expect.fail(`it never ends: ${history.said.join("\n")}`);
}

// The batch was planned when the copy was made, and settled afterwards. An endpoint that finds no log does not show how.
describe.each([
  { moves: true, where: "while what was forgotten is fenced off" },
  { moves: false, where: "in a snapshot of the whole disk" },
])("a batch that a copy has planned and the chain has settled since, $where", ({ moves }) => {
  it("is not given up, and is final without a halt", async () => {
    history = await openHistory({ moves });
    const [payer] = history.payers as [`0x${string}`];
    await history.deliver(payer, 100n);
    await history.daemon({ diesAt: "after_plan" }).tick();
    const batchId = await newestBatch();
    expect(await stateOf(batchId)).toBe("planned");
    const planned = history.copy();
    expect(await history.settle([history.daemon()])).toBe(true);
    expect(await stateOf(batchId)).toBe("final");

    await history.restore(planned);
    const blind = history.daemon({ lies: { receiptOfBatch: async () => null } });
    for (let i = 0; i < 3; i++) {
      await blind.tick();
      history.mine();
      expect(await stateOf(batchId)).toBe("planned");
    }
    expect(await history.settle([history.daemon()])).toBe(true);
    expect(await stateOf(batchId)).toBe("final");
    expect(await history.ledger.readHalt()).toBeNull();
    expect(history.overpaid()).toEqual([]);
  });
});

describe("a ledger that is restored more than once", () => {
  it("from an older copy before the fences of the first restore are gone, and from a newer one of the time before", async () => {
    history = await openHistory({ operators: 2 });
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const daemon = history.daemon();
    await history.deliver(alice, 100n);
    await history.settle([daemon]);
    await history.deliver(alice, 50n);
    const older = history.copy();
    await history.settle([daemon]);
    await history.deliver(bob, 70n);
    const newer = history.copy();
    await history.settle([daemon]);
    expect(history.overpaid()).toEqual([]);

    await history.restore(newer);
    const second = history.daemon({ name: "second" });
    await second.tick();
    history.mine();
    await second.tick();
    await history.restore(older);
    const third = history.daemon({ name: "third" });
    await third.tick();
    await reconciled([third]);
    expect(await history.settle([third])).toBe(true);
    expect(history.overpaid()).toEqual([]);

    // What he has paid and the older copy knows nothing of pays for this.
    await history.deliver(bob, 30n);
    history.forgiven(bob, 30n);
    await third.tick();
    history.mine();
    await history.restore(newer);
    const fourth = history.daemon({ name: "fourth" });
    await fourth.tick();
    await reconciled([fourth]);
    expect(await history.settle([fourth])).toBe(true);
    expect(history.overpaid()).toEqual([]);
    // And whoever pays from then on pays for what is delivered.
    await history.deliver(bob, 5n);
    expect(await history.settle([fourth])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  it("in the middle of a takeover by another key on the same nonce number", async () => {
    history = await openHistory({ operators: 2 });
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const [first, second] = history.operators as [`0x${string}`, `0x${string}`];
    const own = history.daemon({ keys: [first], name: "first" });
    const other = history.daemon({ keys: [second], name: "second" });
    await history.deliver(alice, 100n);
    await own.tick();
    const batchId = await newestBatch();
    history.setLimit(first, 0n);
    history.mine(2);
    const reverted = history.copy();
    for (let i = 0; i < 20 && (await stateOf(batchId)) !== "abandoned"; i++) {
      await own.tick();
      history.mine();
    }
    await other.tick();
    const takenOver = history.copy();
    history.mine(3);
    await other.tick();
    // Nobody knows of the takeover now, which is in a block and not final.
    await history.restore(reverted);
    const both = [history.daemon({ keys: [first], name: "first" }), history.daemon({ keys: [second], name: "second" })];
    for (const daemon of both) await daemon.tick();
    await history.deliver(bob, 40n);
    await history.restore(takenOver);
    history.forgiven(bob, 40n);
    for (const daemon of both) await daemon.tick();
    history.setLimit(first, 10n ** 12n);
    await reconciled(both);
    expect(await history.settle(both)).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });
});

// Nothing marks it: the ledger is where it was. That it is a copy shows when something of it is mined that it does not know.
describe("a snapshot of the whole disk", () => {
  it("lets nothing be planned over bytes that it has forgotten, once it was noticed", async () => {
    history = await openHistory({
      moves: false,
      operators: 2,
      policy: { bounds: { maxRows: 1, maxLines: 12, maxCharges: 16 } },
    });
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const [first, second] = history.operators as [`0x${string}`, `0x${string}`];
    await history.daemon({ keys: [first, second] }).tick();
    for (const payer of [alice, bob]) await history.deliver(payer, 100n);
    const snapshot = history.copy();
    await history.daemon({ keys: [first] }).tick();
    const waiting = history.chain.pooled();
    expect(waiting).toHaveLength(2);
    const batches = await history.ledger.listBatches(10, 0);
    const signed = await Promise.all(batches.map(({ batchId }) => history.ledger.findSubmission(batchId)));
    const later = signed.find((submission) => submission?.nonce === 1)?.broadcasts[0];
    // The second is known to some node, and reaches the sequencer when its fee will do.
    for (const transaction of waiting) if (transaction.nonce === 1) history.chain.drop(transaction);
    history.mine();

    await history.restore(snapshot);
    // So that what is due makes another batch than it did.
    await history.deliver(bob, 10n);
    const other = history.daemon({ keys: [second], name: "second" });
    await other.tick();
    expect(await history.ledger.readHalt()).not.toBeNull();
    history.mine(13);
    await history.reconcile({ adopt: true, resume: true });
    expect(await history.ledger.readHalt()).toBeNull();
    for (let i = 0; i < 10; i++) {
      await other.tick();
      history.mine(2);
    }
    await history.chain.connectHonestly(() => 0).send(later?.raw ?? "0x");
    history.mine(3);
    const own = history.daemon({ keys: [first], name: "first" });
    await own.tick();
    await reconciled([own, other]);
    expect(await history.settle([own, other])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });
});

describe("a snapshot of the whole disk that a person says is one", () => {
  it("lets nothing be planned over bytes that it has forgotten, whether or not anybody notices them", async () => {
    history = await openHistory({ moves: false });
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const daemon = history.daemon();
    await history.deliver(alice, 100n);
    expect(await history.settle([daemon])).toBe(true);
    await history.deliver(alice, 40n);
    const snapshot = history.copy();
    await daemon.tick();
    const [forgotten] = history.chain.pooled();
    expect(forgotten).toBeDefined();
    await history.restore(snapshot);
    await history.reconcile({ fence: true });
    await history.deliver(bob, 10n);
    await daemon.tick();
    expect(history.chain.pooled()).toEqual([forgotten]);
    await reconciled([daemon]);
    for (let i = 0; i < 20; i++) {
      await daemon.tick();
      history.mine(2);
      await history.reconcile({ adopt: true, reopen: true, resume: true });
    }
    expect(await history.settle([daemon])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });
});

describe("a failover that loses the last commits in the middle of a tick", () => {
  // The first batch is on its way when the standby takes over, which knows nothing of it; the tick goes on there.
  it.each([1, 2])("plans nothing more in that tick with %i keys, and nobody pays twice", async (operators) => {
    history = await openHistory({ operators });
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const honest = history.chain.connectHonestly(() => 0);
    await history.daemon().tick();
    await history.deliver(alice, 100n);
    const standby = history.copy();
    let failedOver = false;
    const daemon = history.daemon({
      lies: {
        async send(raw) {
          const outcome = await honest.send(raw);
          if (failedOver) return outcome;
          failedOver = true;
          await history.restore(standby);
          await history.deliver(bob, 10n);
          return outcome;
        },
      },
    });
    await daemon.tick();
    expect(history.chain.pooled()).toHaveLength(1);
    history.mine(3);
    expect(history.overpaid().every((amount) => amount <= 0n)).toBe(true);
    await reconciled([daemon]);
    for (let i = 0; i < 20; i++) {
      await daemon.tick();
      history.mine(2);
      await history.reconcile({ adopt: true, reopen: true, resume: true });
    }
    expect(await history.settle([daemon])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  // What the tick has looked at was explained by a ledger that is gone. The standby must look at it again.
  it("comes before the final block is noted: what the standby does not know is found all the same", async () => {
    history = await openHistory();
    const [alice, bob] = history.payers as [`0x${string}`, `0x${string}`];
    const daemon = history.daemon();
    await history.deliver(alice, 100n);
    const standby = history.copy();
    await daemon.tick();
    history.mine(20);
    const honest = history.chain.connectHonestly(() => 0);
    let asked = 0;
    const finalized = async () => {
      asked += 1;
      // For the second time when everything up to it was explained.
      if (asked === 2) await history.restore(standby);
      return honest.finalized();
    };
    await history.daemon({ lies: { finalized } }).tick();
    expect(asked).toBeGreaterThanOrEqual(2);
    await history.deliver(bob, 10n);
    for (let i = 0; i < 30; i++) {
      await daemon.tick();
      history.mine(2);
    }
    expect((await history.ledger.readHalt())?.reason).toMatch(/not in the ledger/);
    expect(history.overpaid().every((amount) => amount <= 0n)).toBe(true);
    await reconciled([daemon]);
    for (let i = 0; i < 20; i++) {
      await daemon.tick();
      history.mine(2);
    }
    expect(await history.settle([daemon])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });
});

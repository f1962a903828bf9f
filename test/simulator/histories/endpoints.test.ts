import type { Address, Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Chain, TxReceipt } from "../../../settlement/chain/chain.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { type History, openHistory } from "./openHistory.ts";

let history: History;
let alice: Address;
let bob: Address;
let operator: Address;
let other: Address;
let honest: Chain;
beforeEach(async () => {
  history = await openHistory({ operators: 2 });
  [alice, bob] = history.payers as [Address, Address];
  [operator, other] = history.operators as [Address, Address];
  honest = history.chain.connectHonestly(() => 0);
});
afterEach(() => history.close());

// A batch of 100 of alice's that was sent and that every mempool has dropped, and its bytes.
async function dropped(): Promise<{ batchId: Hex; txHash: Hex; raw: Hex }> {
  history.mine(15);
  await history.deliver(alice, 100n);
  await history.daemon({ keys: [operator], name: "first" }).tick();
  const [waiting] = history.chain.pooled();
  if (waiting === undefined) throw new RangeError("nothing was sent");
  history.chain.drop(waiting);
  const [batch] = await history.ledger.listBatches(1, 0);
  const [broadcast] = (await history.ledger.findSubmission(batch?.batchId ?? "0x"))?.broadcasts ?? [];
  if (batch === undefined || broadcast === undefined) throw new RangeError("nothing was signed");
  return { batchId: batch.batchId, txHash: waiting.hash, raw: broadcast.raw };
}

// What one of two endpoints says of a transaction that is in no block, while the other has the block and denies it.
function madeUp(txHash: Hex, said: Pick<TxReceipt, "status" | "batches">): Partial<Chain> {
  const receipt = async (): Promise<TxReceipt> => {
    const { number, hash } = await honest.finalized();
    return { txHash, blockNumber: number, blockHash: hash, gasUsed: 50_000n, ...said };
  };
  return {
    receipt: async (hash) => (hash === txHash ? receipt() : honest.receipt(hash)),
    finalReceipt: async (hash) =>
      hash === txHash ? { ...(await receipt()), isAgreed: false } : honest.finalReceipt(hash),
  };
}

// What is said of a payer who has nothing.
const NOTHING = { amount: microUsdc(0n), balance: microUsdc(0n), allowance: 0n, prepaid: microUsdc(0n) };

describe("one of two endpoints", () => {
  it("makes up a revert: the batch is not given up, and nobody pays for it twice", async () => {
    const { txHash, raw } = await dropped();
    const lies: Partial<Chain> = {
      ...madeUp(txHash, { status: "reverted", batches: new Map() }),
      send: async () => ({ kind: "unknown", reason: "time-out" }),
      // Its limit is used up, so that the other key goes on.
      operatorLimit: async () => ({ limit: 1_000n, left: 0n, bonded: true }),
    };
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    await blind.tick();
    await blind.tick();
    await history.deliver(bob, 10n);
    const second = history.daemon({ keys: [other], name: "second" });
    await second.tick();
    history.mine();
    await honest.send(raw);
    history.mine(3);
    expect(history.overpaid().every((amount) => amount <= 0n)).toBe(true);
    expect(await history.settle([second, history.daemon({ keys: [operator], name: "first" })])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  it("makes up a success: the batch is not final, and goes on its way", async () => {
    const { txHash, batchId } = await dropped();
    const outcome = { charged: microUsdc(100n), treasuryShare: microUsdc(100n), failed: [], paid: [], refused: [] };
    const lies = madeUp(txHash, { status: "success", batches: new Map([[batchId, outcome]]) });
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    await blind.tick();
    await blind.tick();
    expect((await history.ledger.findSubmission(batchId))?.state.kind).not.toBe("final");
    await history.deliver(bob, 10n);
    const daemon = history.daemon({ keys: [operator], name: "first" });
    expect(await history.settle([daemon])).toBe(true);
    expect((await daemon.audit()).kind).toBe("equal");
    expect(history.overpaid()).toEqual([]);
  });

  it("makes up a success at the head: when that block is final the batch is put on its way again", async () => {
    const { txHash, batchId } = await dropped();
    const outcome = { charged: microUsdc(100n), treasuryShare: microUsdc(100n), failed: [], paid: [], refused: [] };
    const { number, hash } = await honest.head();
    const said: TxReceipt = {
      txHash,
      blockNumber: number,
      blockHash: hash,
      gasUsed: 50_000n,
      status: "success",
      batches: new Map([[batchId, outcome]]),
    };
    const liar = history.daemon({
      keys: [operator],
      name: "first",
      lies: { receipt: async (wanted) => (wanted === txHash ? said : honest.receipt(wanted)) },
    });
    await liar.tick();
    expect((await history.ledger.findSubmission(batchId))?.state.kind).toBe("included");
    history.mine(15);
    // It says so again; the endpoints together do not.
    expect(await history.settle([liar])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  // What it says of the first bytes of a batch, once others have taken their place that nobody has seen yet.
  async function saidOfReplaced(status: TxReceipt["status"]): Promise<Hex> {
    const { txHash, batchId } = await dropped();
    const silent = { send: async () => ({ kind: "unknown", reason: "time-out" }) as const };
    const waiting = history.daemon({ keys: [operator], name: "first", lies: silent });
    for (let tries = 0; tries < 8; tries++) {
      await waiting.tick();
      history.mine(3);
    }
    const { number, hash } = await honest.head();
    const outcome = { charged: microUsdc(100n), treasuryShare: microUsdc(100n), failed: [], paid: [], refused: [] };
    const batches = new Map(status === "success" ? [[batchId, outcome]] : []);
    const receipt: TxReceipt = { txHash, blockNumber: number, blockHash: hash, gasUsed: 50_000n, status, batches };
    const lies = { receipt: async (wanted: Hex) => (wanted === txHash ? receipt : honest.receipt(wanted)), ...silent };
    await history.daemon({ keys: [operator], name: "first", lies }).tick();
    expect(["included", "reverted"]).toContain((await history.ledger.findSubmission(batchId))?.state.kind);
    return batchId;
  }
  it.each(["success", "reverted"] as const)(
    "makes up for bytes that were replaced: %s. Those that were mined count",
    async (status) => {
      const batchId = await saidOfReplaced(status);
      const replaced = (await history.ledger.findSubmission(batchId))?.broadcasts.at(-1);
      await honest.send(replaced?.raw ?? "0x");
      history.mine(15);
      expect(await history.settle([history.daemon({ keys: [operator], name: "first" })])).toBe(true);
      expect((await history.ledger.findSubmission(batchId))?.state).toMatchObject({
        kind: "final",
        txHash: replaced?.txHash,
      });
      expect(history.overpaid()).toEqual([]);
    },
  );

  it("makes up a revert, and somebody else has used the nonce: the charges are settled on another one, with an alarm", async () => {
    await saidOfReplaced("reverted");
    history.chain.inject({ from: operator, to: operator, calldata: "0x", gasLimit: 21_000n, fleeting: false });
    history.mine(15);
    expect(await history.settle([history.daemon({ keys: [operator], name: "first" })])).toBe(true);
    expect(history.events).toContainEqual({ kind: "key_used_elsewhere", operator, nonce: 0 });
    expect(history.overpaid()).toEqual([]);
  });

  it("says that a payer has nothing: the payer pays, and the platform does not pay for it", async () => {
    const lies: Partial<Chain> = {
      spendable: async (payers, budgets) =>
        (await honest.spendable(payers, budgets)).map((spendable) => ({ ...spendable, ...NOTHING })),
    };
    await history.deliver(alice, 100n);
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    for (let hour = 0; hour < 6; hour++) {
      for (let tick = 0; tick < 20; tick++) {
        await blind.tick();
        history.mine();
      }
      history.letHoursPass(1);
    }
    expect(history.overpaid()).toEqual([]);
    expect((await history.ledger.readGauges()).failures).toEqual([]);
  });

  it("says of a batch that the chain has it, which nobody shows: it waits, and somebody is told", async () => {
    await history.deliver(alice, 100n);
    const lies: Partial<Chain> = { simulate: async () => ({ kind: "already_settled" }) };
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    const told = () => history.events.filter(({ kind }) => kind === "holding").length;
    await blind.tick();
    // What a peer has settled is found by the next tick.
    expect(told()).toBe(0);
    await blind.tick();
    await blind.tick();
    expect(told()).toBeGreaterThan(0);
    expect(await history.settle([history.daemon({ keys: [operator], name: "first" })])).toBe(true);
    expect(history.overpaid()).toEqual([]);
  });

  it("says of a row alone that it is too large: it is set aside, somebody is told, and the others go on", async () => {
    await history.deliver(alice, 100n);
    await history.deliver(bob, 10n);
    const lies: Partial<Chain> = {
      simulate: async (call) =>
        call.calldata.includes(alice.slice(2)) ? { kind: "too_large", reason: "of gas" } : honest.simulate(call),
    };
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    for (let tick = 0; tick < 10; tick++) {
      await blind.tick();
      history.mine(3);
    }
    expect(history.events).toContainEqual({
      kind: "row_set_aside",
      payer: alice,
      reason: expect.stringContaining("of gas"),
    });
    expect(history.overpaid()).toEqual([-100n]);
  });

  it("says that a payer has nothing who owes more than it has: what the payer can pay is paid", async () => {
    const lies: Partial<Chain> = {
      spendable: async (payers, budgets) =>
        (await honest.spendable(payers, budgets)).map((spendable) => ({ ...spendable, ...NOTHING })),
    };
    history.chain.do("alice allows less", ({ protocol }) => void protocol.allowances.set(alice, 150n));
    history.mine();
    // It fails, and is due again later.
    await history.deliver(alice, 1_000n);
    await history.daemon({ keys: [operator], name: "first" }).tick();
    expect((await history.ledger.readGauges()).failures).toEqual([{ reason: "allowance", count: 1 }]);
    await history.deliver(alice, 100n);
    const blind = history.daemon({ keys: [operator], name: "first", lies });
    for (let tick = 0; tick < 20; tick++) {
      await blind.tick();
      history.mine();
    }
    expect((await history.ledger.readTotals()).settled).toBe(100n);
  });

  it("names a nonce that is far ahead: no number is jumped over, and settlement goes on", async () => {
    const daemon = history.daemon({ keys: [operator] });
    await history.deliver(alice, 100n);
    expect(await history.settle([daemon])).toBe(true);
    await history.deliver(bob, 10n);
    const nonce: Chain["nonce"] = async (key, at) => (at === "latest" ? 1_000_000 : honest.nonce(key, at));
    const told = history.daemon({ keys: [operator], lies: { nonce } });
    await told.tick();
    await told.tick();
    expect(await history.settle([daemon])).toBe(true);
    expect(await history.ledger.readHalt()).toBeNull();
    expect(await history.ledger.listOperators()).toMatchObject([{ nextNonce: 2 }]);
  });
});

describe("the only endpoint, which is replaced by an honest one when it is too late", () => {
  it("has made up that a batch is final: a person puts it on its way again", async () => {
    const { txHash, batchId } = await dropped();
    const outcome = { charged: microUsdc(100n), treasuryShare: microUsdc(100n), failed: [], paid: [], refused: [] };
    const lies = madeUp(txHash, { status: "success", batches: new Map([[batchId, outcome]]) });
    const alone: Partial<Chain> = {
      ...lies,
      finalReceipt: async (hash) => {
        const receipt = await lies.receipt?.(hash);
        return receipt ? { ...receipt, isAgreed: true } : null;
      },
      nonce: async () => 1,
      settledAt: async () => 1n,
    };
    const blind = history.daemon({ keys: [operator], name: "first", lies: alone });
    await blind.tick();
    await blind.tick();
    expect((await history.ledger.findSubmission(batchId))?.state.kind).toBe("final");
    const daemon = history.daemon({ keys: [operator], name: "first" });
    expect((await daemon.audit()).kind).toBe("different");
    const { reopened, resumed } = await history.reconcile({ reopen: true, resume: true });
    expect(reopened).toEqual([{ id: batchId, charges: 1 }]);
    expect(resumed).toBe(true);
    await history.deliver(bob, 10n);
    expect(await history.settle([daemon])).toBe(true);
    expect((await daemon.audit()).kind).toBe("equal");
    expect(history.overpaid()).toEqual([]);
  });
});

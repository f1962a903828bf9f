// Whoever disputes a batch sends a plain transaction, which nodes take up to 128 KiB of. However an operator settles, with calldata
// that means nothing, rows that fail or receipts deep in their tree, what the court must be shown fits into one.
import { expect } from "chai";
import { concat, dataLength, hexlify, keccak256, randomBytes, toBeHex, zeroPadValue } from "ethers";
import hre from "hardhat";
import type { Hex } from "viem";
import type { Exception } from "../../../settlement/chain/court/exceptionsOf.ts";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import { type Charge, freshHash, packBatch, usd } from "../fixture.ts";
import { type Courtroom, courtroom } from "./courtroom.ts";

// The most gas that a transaction may use (EIP-7825), and the bytes that nodes take of it, without its head and signature.
const MAX_GAS = 2n ** 24n;
const MAX_BYTES = 128 * 1024 - 300;
const MAX_SHOWN = 80_000;
const MAX_NODES = 1_500;

const TAKEN = usd("3");

describe("what an operator would rather not have shown", () => {
  it("can be contested whatever else has failed in its batch", async function () {
    // Contracts that are instrumented for coverage cost more.
    if (hre.globalOptions.coverage) this.skip();
    const court = await courtroom();
    const { router, receiptCourt, contest, payer } = court;
    const failing = await mostFailing(court);
    const call = await callWith(court, freshHash(), rowsWith(payer, failing));
    const settlement = await settle(court, call);
    expect(settlement.exceptions.length).to.equal(failing);
    expect(
      dataLength(receiptCourt.interface.encodeFunctionData("contest", [settlement, payer.address])),
    ).to.be.lessThan(MAX_BYTES);
    await expect(contest({ settlement } as never)).to.emit(receiptCourt, "Contested");
    const more = await callWith(court, freshHash(), rowsWith(payer, failing + 1));
    const shown = BigInt(dataLength(more) + 64 * (failing + 1));
    await expect(court.operator.sendTransaction({ to: router, data: more, gasLimit: MAX_GAS }))
      .to.be.revertedWithCustomError(router, "BatchTooLarge")
      .withArgs(shown, MAX_SHOWN);
  });

  it("can be proven to be paid twice though both batches are as large as can be, and both receipts as deep", async () => {
    const court = await courtroom();
    const { receiptCourt, bonds, payer, charge } = court;
    const double = charge({ toolId: null, amount: TAKEN });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleDeep(court, double, MAX_NODES), await settleDeep(court, again, MAX_NODES)];
    expect(dataLength(receiptCourt.interface.encodeFunctionData("proveDoubleCharge", [first, second]))).to.be.above(
      MAX_BYTES,
    );
    const shownOf = (due: DueCharge, batchId: string) => ({ batchId, receipt: receiptOf(due) });
    const both = [shownOf(double, first.batchId), shownOf(again, second.batchId)] as const;
    await expect(receiptCourt.proveShownTwice(...both))
      .to.be.revertedWithCustomError(receiptCourt, "ReceiptNotInBatch")
      .withArgs(first.batchId);
    for (const paid of [first, second]) {
      expect(dataLength(receiptCourt.interface.encodeFunctionData("showPaid", [paid]))).to.be.lessThan(MAX_BYTES);
      await receiptCourt.showPaid(paid, { gasLimit: MAX_GAS });
    }
    // What was shown is a fact, and no proof of anything else.
    await expect(receiptCourt.proveShownTwice(both[0], both[0])).to.be.revertedWithCustomError(
      receiptCourt,
      "NotDouble",
    );
    await expect(receiptCourt.proveShownTwice(...both)).to.emit(receiptCourt, "DoubleChargeProven");
    expect(await bonds.creditOf(payer)).to.equal(TAKEN);
    await expect(receiptCourt.proveShownTwice(...both)).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
  });

  it("is not answered with receipts that are too deep in their tree to prove anything with", async () => {
    const court = await courtroom();
    const { receiptCourt, contest, payer, charge } = court;
    for (const [depth, isAnswered] of [
      [MAX_NODES + 1, false],
      [MAX_NODES, true],
    ] as const) {
      const due = charge({ toolId: null, amount: TAKEN });
      const { batchId, settlement, path } = await settleDeep(court, due, depth);
      await contest({ settlement } as never);
      const { lines } = await receiptCourt.chargedIn(settlement, payer.address);
      const sent = receiptCourt.answer(batchId, payer, {
        lines: lines.map(({ toolId, amount }) => ({ toolId, amount })),
        receipts: [receiptOf(due)],
        places: [0],
        proof: path,
        proofFlags: path.map(() => false),
      });
      if (isAnswered) await expect(sent).to.emit(receiptCourt, "Answered");
      else {
        await expect(sent).to.be.revertedWithCustomError(receiptCourt, "ProofTooLong").withArgs(depth, MAX_NODES);
      }
    }
  });
});

// A charge below `depth` nodes that nobody knows anything about, in a batch of as many bytes as the router takes.
async function settleDeep(court: Courtroom, due: DueCharge, depth: number) {
  const path: string[] = [];
  let batchId = hexlify(court.leaf(due));
  while (path.length < depth) {
    const node = freshHash();
    batchId = keccak256(BigInt(batchId) < BigInt(node) ? concat([batchId, node]) : concat([node, batchId]));
    path.push(node);
  }
  const call = await callWith(court, batchId, [{ payer: court.payer, modelCost: TAKEN }]);
  const padded = concat([call, randomBytes(MAX_SHOWN - dataLength(call))]);
  return { batchId, path, receipt: receiptOf(due), settlement: await settle(court, padded) };
}

// A row that takes something, and rows on budgets that were never signed.
const rowsWith = (payer: Charge["payer"], failing: number): Charge[] => [
  { payer, modelCost: TAKEN },
  ...Array.from({ length: failing }, (_, i) => ({
    payer: { address: zeroPadValue(toBeHex(i + 1), 20) },
    modelCost: 1n,
    budget: { id: 1n },
  })),
];

async function callWith({ router, operator }: Courtroom, batchId: string, charges: readonly Charge[]): Promise<string> {
  const { toolIds, rows } = packBatch(charges);
  return router.interface.encodeFunctionData("settle", [await router.headOf(operator), batchId, toolIds, rows]);
}

async function settle({ router, operator, settlementOf }: Courtroom, call: string) {
  const sent = await operator.sendTransaction({ to: router, data: call as Hex, gasLimit: MAX_GAS });
  return (await settlementOf(sent)) as { operator: string; call: string; exceptions: Exception[] };
}

// With how many rows that fail a batch has as much to show as the router takes.
async function mostFailing(court: Courtroom): Promise<number> {
  const bytesWith = async (failing: number) =>
    dataLength(await callWith(court, freshHash(), rowsWith(court.payer, failing))) + 64 * failing;
  let failing = 700;
  while ((await bytesWith(failing + 1)) <= MAX_SHOWN) failing += 1;
  return failing;
}

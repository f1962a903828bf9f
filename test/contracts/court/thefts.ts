// What an operator, a payer or a bystander could try at the receipt court in order to get more than is due. Each is a test in
// which the thief loses.
import { expect } from "chai";
import { concat, getBytes, MaxUint256, toBeHex, ZeroHash, zeroPadValue } from "ethers";
import { type Address, bytesToHex } from "viem";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import {
  DAY,
  ethers,
  freshHash,
  networkHelpers,
  OPERATOR_LIMIT,
  type Party,
  packBatch,
  time,
  usd,
} from "../fixture.ts";
import { CONTEST_DEPOSIT, type Courtroom, courtroom, PREMIUM, rowsOf } from "./courtroom.ts";

const BOND = OPERATOR_LIMIT / 10n;
const INTRINSIC_GAS = 21_000n;

describe("an operator who wants its bond back at once", () => {
  it("gets no more out of a row than the row took, with however many receipts of one charge", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer, stranger, bondLeft } = await courtroom();
    const forged = sameCharge(charge({ amount: usd("2") }), 6);
    const [kept, ...others] = forged;
    if (!kept) throw new Error("there are receipts");
    // The payer is the operator's own: one line of 2 USDC, and six receipts of as much.
    const batch = await settleCharges(forged, { rows: rowsOf([kept]) });
    const prove = (other: DueCharge) =>
      receiptCourt.connect(stranger).proveDoubleCharge(paid(batch, kept), paid(batch, other));
    const [second, ...rest] = others;
    if (!second) throw new Error("there are receipts");
    await prove(second);
    for (const other of rest) {
      await expect(prove(other))
        .to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded")
        .withArgs(batch.batchId, payer);
    }
    expect(await bonds.creditOf(payer)).to.equal(usd("2"));
    expect(await bondLeft()).to.equal(BOND - usd("2") - 2n * PREMIUM);
  });

  it("earns no premium above what the payer gets back", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer, stranger, bondLeft } = await courtroom();
    const tiny = charge({ amount: 3n });
    const again = { ...tiny, attempts: 1 };
    const [first, second] = [await settleCharges([tiny]), await settleCharges([again])];
    await receiptCourt.connect(stranger).proveDoubleCharge(paid(first, tiny), paid(second, again));
    expect(await bonds.creditOf(payer)).to.equal(3n);
    expect(await bonds.creditOf(stranger)).to.equal(3n);
    expect(await bondLeft()).to.equal(BOND - 9n);
  });

  it("loses a tenth of it at least, with rows as small as a premium", async () => {
    const market = await courtroom();
    const { charge, settleCharges, paid, answer, contest, receiptCourt, bonds, router, usdc } = market;
    const { operator, payer: wallet, developer: ownTool, stranger: accuser, bondLeft, postBond } = market;
    const money = async () => {
      const credits = [operator, wallet, accuser].map((account) => bonds.creditOf(account));
      const balances = [operator, wallet, accuser].map((account) => usdc.balanceOf(account));
      const all = await Promise.all([...credits, ...balances, router.creditOf(ownTool), bondLeft()]);
      return all.reduce((sum, amount) => sum + amount);
    };
    for (const amount of [1n, usd("0.01"), PREMIUM, usd("3")]) {
      const [before, pledged] = [await money(), await bondLeft()];
      const proofs: (() => Promise<unknown>)[] = [];
      for (const isContested of [false, true]) {
        const [kept, other] = sameCharge(charge({ amount }), 2) as [DueCharge, DueCharge];
        const batch = await settleCharges([kept, other], { rows: rowsOf([kept]) });
        if (isContested) {
          await contest(batch, { by: accuser });
          await answer(batch, [kept]);
        }
        proofs.push(() => receiptCourt.connect(accuser).proveDoubleCharge(paid(batch, kept), paid(batch, other)));
      }
      // With the first proof it stops settling, so all else comes before.
      for (const prove of proofs) await prove();
      const taken = pledged - (await bondLeft());
      // The deposit that `contest` mints was none of the operator's money.
      expect(before + CONTEST_DEPOSIT - (await money()), `${amount}`).to.be.at.least(taken / 10n);
      await postBond(operator, taken);
    }
  });

  it("cannot crowd a true proof out with receipts of its own making", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer, stranger } = await courtroom();
    const double = charge({ amount: usd("2") });
    const again = { ...double, attempts: 1 };
    const [one, other] = sameCharge(charge({ amount: usd("1") }), 2);
    if (!one || !other) throw new Error("there are two");
    const first = await settleCharges([double]);
    const second = await settleCharges([again, one, other], { rows: rowsOf([again]) });
    await receiptCourt.connect(stranger).proveDoubleCharge(paid(second, one), paid(second, other));
    await receiptCourt.proveDoubleCharge(paid(first, double), paid(second, again));
    expect(await bonds.creditOf(payer)).to.equal(usd("2"));
  });

  it("waits again for whatever it asks back later, and what its limit asks for stays while it settles", async () => {
    const { bonds, operator, settle, payer, postBond, router } = await courtroom();
    const asOperator = bonds.connect(operator);
    await postBond(operator, usd("50"));
    await asOperator.requestWithdrawal(operator, usd("50"));
    await time.increase(20 * DAY);
    await settle([{ payer, modelCost: usd("1") }]);
    await asOperator.requestWithdrawal(operator, BOND + usd("50"));
    await time.increase(2 * DAY);
    await expect(asOperator.withdraw(operator, operator)).to.be.revertedWithCustomError(bonds, "BondNotReady");
    await expect(settle([{ payer, modelCost: usd("1") }])).to.be.revertedWithCustomError(router, "BondTooLow");
    await time.increase(19 * DAY);
    await asOperator.withdraw(operator, operator);
  });
});

describe("a thief with the operator's key", () => {
  it("who shows the last receipt first keeps nobody from showing all of them", async () => {
    const { charge, settleCharges, contest, answer, leaf, receiptCourt, operator, payer, stranger, bondLeft } =
      await courtroom();
    const charges = [charge(), charge(), charge()].sort((one, other) => Buffer.compare(leaf(one), leaf(other)));
    for (const by of [operator, stranger]) {
      const batch = await settleCharges(charges.map((due) => ({ ...due, id: freshHash() as `0x${string}` })));
      const sorted = batch.charges.toSorted((one, other) => Buffer.compare(leaf(one), leaf(other)));
      await contest(batch);
      await answer(batch, sorted.slice(-1), { by: operator });
      await expect(answer(batch, sorted, { by })).to.emit(receiptCourt, "Answered");
      await expect(receiptCourt.refund(batch.batchId, payer)).to.be.revertedWithCustomError(
        receiptCourt,
        "NotContested",
      );
    }
    expect(await bondLeft()).to.equal(BOND);
  });

  it("does not get in the way of parts that another account shows", async () => {
    const { charge, settleCharges, contest, answer, answerOf, linesOf, leaf, receiptCourt, operator, payer, treasury } =
      await courtroom();
    const batch = await settleCharges([charge(), charge(), charge(), charge()]);
    const sorted = batch.charges.toSorted((one, other) => Buffer.compare(leaf(one), leaf(other)));
    await contest(batch);
    const all = await plain(linesOf(batch));
    await answer(batch, sorted.slice(0, 2), { by: treasury });
    await answer(batch, sorted.slice(-1), { by: operator });
    const left = all.map((line) => (line.amount === 0n ? line : { ...line, amount: usd("0.20") }));
    await expect(
      receiptCourt.connect(operator).answer(batch.batchId, payer, answerOf(batch, left, sorted.slice(2))),
    ).to.be.revertedWithCustomError(receiptCourt, "LinesMismatch");
    await expect(receiptCourt.connect(treasury).answer(batch.batchId, payer, answerOf(batch, left, sorted.slice(2))))
      .to.emit(receiptCourt, "Answered")
      .withArgs(batch.batchId, payer, operator);
  });

  it("shows no receipt twice by beginning again", async () => {
    const { charge, settleCharges, contest, answer, answerOf, linesOf, leaf, receiptCourt, operator, payer } =
      await courtroom();
    const charges = [charge(), charge()].sort((one, other) => Buffer.compare(leaf(one), leaf(other)));
    // Twice as much was charged as there are receipts for.
    const batch = await settleCharges(charges, { rows: rowsOf([...charges, ...charges]) });
    await contest(batch);
    const all = await plain(linesOf(batch));
    const left = all.map((line) => (line.amount === 0n ? line : { ...line, amount: usd("0.20") }));
    await answer(batch, charges);
    for (const lines of [left, all]) {
      const again = receiptCourt.connect(operator).answer(batch.batchId, payer, answerOf(batch, lines, charges));
      if (lines === left) await expect(again).to.be.revertedWithCustomError(receiptCourt, "ReceiptsOutOfOrder");
      else await expect(again).to.emit(receiptCourt, "ReceiptsShown");
    }
    await time.increase(3 * DAY);
    await expect(receiptCourt.refund(batch.batchId, payer)).to.emit(receiptCourt, "RowRefunded");
  });
});

describe("an operator who is to answer", () => {
  it("has until the last second, and not one more", async () => {
    const { charge, settleCharges, contest, answerOf, linesOf, receiptCourt, operator, payer } = await courtroom();
    const [early, late] = [await settleCharges([charge()]), await settleCharges([charge()])];
    for (const batch of [early, late]) await contest(batch);
    const shown = await Promise.all(
      [early, late].map(async (batch) => answerOf(batch, await linesOf(batch), batch.charges)),
    );
    const { until } = await receiptCourt.contestOf(early.batchId, payer);
    const answer = (batchId: string, answers: (typeof shown)[number]) =>
      receiptCourt.connect(operator).answer(batchId, payer, answers);
    await time.setNextBlockTimestamp(until - 1n);
    await answer(early.batchId, shown[0] as (typeof shown)[number]);
    const { until: deadline } = await receiptCourt.contestOf(late.batchId, payer);
    await time.setNextBlockTimestamp(deadline);
    await expect(answer(late.batchId, shown[1] as (typeof shown)[number]))
      .to.be.revertedWithCustomError(receiptCourt, "WindowClosed")
      .withArgs(deadline, deadline);
    await receiptCourt.refund(late.batchId, payer);
    await expect(answer(late.batchId, shown[1] as (typeof shown)[number])).to.be.revertedWithCustomError(
      receiptCourt,
      "NotContested",
    );
  });

  it("shows nothing with receipts of another chain or router", async () => {
    const { charge, settle, settlementOf, contest, receiptCourt, linesOf, answerOf, operator, payer, domain } =
      await courtroom();
    const due = charge();
    for (const elsewhere of [
      { ...domain, chainId: 1 },
      { ...domain, router: domain.router.replace(/.$/, (last) => (last === "0" ? "1" : "0")) as Address },
    ]) {
      const tree = createMerkleTree([leafOf(elsewhere, due)]);
      const settlement = await settlementOf(await settle(rowsOf([due]), { batchId: tree.root }));
      const batch = { batchId: tree.root, charges: [due], settlement, tree };
      await contest(batch);
      const [line] = answerOf({ ...batch, tree: createMerkleTree([leafOf(domain, due)]) }, await linesOf(batch), [
        due,
      ]).receipts;
      const shown = { lines: await plain(linesOf(batch)), receipts: [line], places: [1], proof: [], proofFlags: [] };
      await expect(
        receiptCourt.connect(operator).answer(batch.batchId, payer, shown as never),
      ).to.be.revertedWithCustomError(receiptCourt, "ReceiptNotInBatch");
    }
  });

  it("makes no receipt of an inner node, nor of a proof that needs none", async () => {
    const { charge, settleCharges, contest, receiptCourt, linesOf, answerOf, leaf, operator, payer } =
      await courtroom();
    const charges = [charge(), charge(), charge(), charge()];
    const batch = await settleCharges(charges.slice(0, 3), { rows: rowsOf(charges) });
    await contest(batch);
    const lines = await plain(linesOf(batch));
    const answer = (shown: unknown) => receiptCourt.connect(operator).answer(batch.batchId, payer, shown as never);
    const missing = charges[3];
    if (!missing) throw new Error("there is one without a receipt");
    const whole = answerOf(batch, lines, charges.slice(0, 3));
    const nodes = [batch.batchId, ...batch.charges.map((due) => bytesToHex(leaf(due)))];
    const forged = { ...whole, receipts: [receiptOf(missing)], places: [1] };
    for (const proof of nodes.map((node) => [node])) {
      await expect(answer({ ...forged, proof, proofFlags: [false] })).to.be.revertedWithCustomError(
        receiptCourt,
        "ReceiptNotInBatch",
      );
    }
    // The flags say that two known nodes are hashed where there is only one.
    await expect(answer({ ...forged, proof: [], proofFlags: [true] })).to.revert(ethers);
    await expect(answer({ ...forged, proof: [batch.batchId], proofFlags: [] })).to.revert(ethers);
    // A proof of nothing is the root itself, and takes nothing off what is to be shown.
    await answer({ lines, receipts: [], places: [], proof: [batch.batchId], proofFlags: [] });
    const { lastLeaf } = await receiptCourt.progressOf(batch.batchId, payer, operator);
    expect([lastLeaf, (await receiptCourt.contestOf(batch.batchId, payer)).stage]).to.deep.equal([ZeroHash, 1n]);
    await answer(whole);
    await time.increase(3 * DAY);
    await expect(receiptCourt.refund(batch.batchId, payer)).to.emit(receiptCourt, "RowRefunded");
  });

  it("hides nothing behind calldata that is encoded in another way", async () => {
    const { router, operator, payer, tool, contest, receiptCourt, settlementOf } = await courtroom();
    const { toolIds, rows } = packBatch([{ payer, modelCost: usd("1"), lines: [[tool, usd("2")]] }]);
    const batchId = freshHash();
    const word = (value: bigint) => zeroPadValue(toBeHex(value), 32);
    const packed = getBytes(rows);
    // The rows come before the tools, with gaps and with bytes behind the end that nobody asked for.
    const rowWords = BigInt(Math.ceil(packed.length / 32));
    const toolsAt = 4n * 32n + 64n + 32n + rowWords * 32n;
    const data = concat([
      router.interface.getFunction("settle").selector,
      word(0n),
      batchId,
      word(toolsAt),
      word(4n * 32n + 64n),
      word(MaxUint256),
      word(7n),
      word(BigInt(packed.length)),
      packed,
      new Uint8Array(Number(rowWords) * 32 - packed.length),
      word(1n),
      concat([toolIds[0] ?? "", new Uint8Array(16)]),
      "0xdeadbeef",
    ]);
    const sent = await operator.sendTransaction({ to: router, data });
    const settlement = await settlementOf(sent);
    await contest({ batchId, charges: [], tree: createMerkleTree([getBytes(batchId)]), settlement });
    expect((await receiptCourt.contestOf(batchId, payer)).charged).to.equal(usd("3"));
  });

  it("is held to a row that drew on a prepaid balance, too", async () => {
    const { router, usdc, charge, payer, settleCharges, contest, receiptCourt, bonds } = await courtroom();
    await usdc.connect(payer).approve(router, MaxUint256);
    await router.connect(payer).deposit(usd("5"));
    const batch = await settleCharges([charge()], { rows: [{ payer, modelCost: usd("4"), prepaid: true }] });
    await contest(batch);
    await time.increase(3 * DAY);
    await receiptCourt.refund(batch.batchId, payer);
    expect(await bonds.creditOf(payer)).to.equal(usd("4") + CONTEST_DEPOSIT);
  });
});

describe("an operator who was suspended", () => {
  it("still answers and still pays, while nothing settles", async () => {
    const { charge, settleCharges, contest, answer, receiptCourt, bonds, router, guardian, operator, payer } =
      await courtroom();
    const [good, bad] = [
      await settleCharges([charge()]),
      await settleCharges([charge()], { rows: [{ payer, modelCost: usd("7") }] }),
    ];
    await router.connect(guardian).suspendOperator(operator);
    await router.connect(guardian).pause();
    for (const batch of [good, bad]) await contest(batch);
    await answer(good);
    await time.increase(3 * DAY);
    await receiptCourt.refund(bad.batchId, payer);
    expect(await bonds.creditOf(payer)).to.equal(usd("7") + CONTEST_DEPOSIT);
    expect(await bonds.creditOf(operator)).to.equal(CONTEST_DEPOSIT);
  });

  it("and is admitted again settles with a whole bond, and not before", async () => {
    const { charge, settleCharges, contest, receiptCourt, router, guardian, operator, payer, asAdmin, postBond } =
      await courtroom();
    const bad = await settleCharges([charge()], { rows: [{ payer, modelCost: usd("7") }] });
    await contest(bad);
    await router.connect(guardian).suspendOperator(operator);
    await time.increase(3 * DAY);
    await receiptCourt.refund(bad.batchId, payer);
    await asAdmin(router.setOperatorLimit.populateTransaction(operator, OPERATOR_LIMIT));
    await expect(settleCharges([charge()])).to.be.revertedWithCustomError(router, "BondTooLow");
    await postBond(operator, usd("7"));
    await settleCharges([charge()]);
  });
});

describe("a charge that somebody else paid", () => {
  it("is given back to the insurance account if the payer had paid it already", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer, insurance, fund } = await courtroom();
    await fund(insurance, usd("10"));
    const own = charge({ amount: usd("2") });
    const absorbed = { ...own, chargedTo: insurance.address.toLowerCase() as Address, attempts: 5 };
    const [first, second] = [await settleCharges([own]), await settleCharges([absorbed])];
    await receiptCourt.proveDoubleCharge(paid(first, own), paid(second, absorbed));
    expect(await bonds.creditOf(insurance)).to.equal(usd("2") + PREMIUM);
    expect(await bonds.creditOf(payer)).to.equal(0n);
  });

  it("is contested by a smart account for itself, which claims what it gets", async () => {
    const { usdc, router, bonds, receiptCourt, payer, settle, settlementOf } = await courtroom();
    const account = await ethers.deployContract("SmartAccount", [payer]);
    const address = await account.getAddress();
    await usdc.mint(address, usd("20"));
    const run = (...calls: [target: { getAddress(): Promise<string> }, data: string][]) =>
      execute(account, payer, calls);
    await run([usdc, usdc.interface.encodeFunctionData("approve", [await router.getAddress(), usd("10")])]);
    const batchId = freshHash();
    const settlement = await settlementOf(await settle([{ payer: { address }, modelCost: usd("6") }], { batchId }));
    await run(
      [usdc, usdc.interface.encodeFunctionData("approve", [await bonds.getAddress(), CONTEST_DEPOSIT])],
      [receiptCourt, receiptCourt.interface.encodeFunctionData("contest", [settlement, address])],
    );
    await time.increase(3 * DAY);
    await receiptCourt.refund(batchId, address);
    await run([bonds, bonds.interface.encodeFunctionData("claim")]);
    expect(await usdc.balanceOf(address)).to.equal(usd("20"));
  });
});

describe("whoever starves the court of gas", () => {
  it("undoes all of a refund, a proof or an answer, or nothing of it", async () => {
    const { charge, settleCharges, paid, contest, answerOf, linesOf, receiptCourt, bonds, operator, payer, reporter } =
      await courtroom();
    const double = charge({ amount: usd("2") });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double]), await settleCharges([again])];
    const unanswered = await settleCharges([charge()], { rows: [{ payer, modelCost: usd("7") }] });
    const answered = await settleCharges([charge()]);
    await contest(unanswered);
    await time.increase(2 * DAY);
    await contest(answered);
    await time.increase(DAY);
    const shown = answerOf(answered, await linesOf(answered), answered.charges);
    const before = await networkHelpers.takeSnapshot();
    const money = async () =>
      Promise.all([bonds.creditOf(payer), bonds.creditOf(operator), bonds.creditOf(reporter), bondOf(operator)]);
    const bondOf = async (account: typeof operator) => (await bonds.bondOf(account)).amount;
    const untouched = await money();

    for (const { by, call, after } of [
      {
        by: reporter,
        call: await receiptCourt.connect(reporter).refund.populateTransaction(unanswered.batchId, payer),
        after: [usd("8"), 0n, 0n, BOND - usd("7")],
      },
      {
        by: reporter,
        call: await receiptCourt
          .connect(reporter)
          .proveDoubleCharge.populateTransaction(paid(first, double), paid(second, again)),
        after: [usd("2"), 0n, PREMIUM, BOND - usd("2") - 2n * PREMIUM],
      },
      {
        by: operator,
        call: await receiptCourt.connect(operator).answer.populateTransaction(answered.batchId, payer, shown),
        after: [0n, CONTEST_DEPOSIT, 0n, BOND],
      },
    ]) {
      const enough = await by.estimateGas(call);
      const step = (enough - INTRINSIC_GAS) / 40n;
      let undone = 0;
      for (let gasLimit = enough - 35n * step; gasLimit <= enough + step; gasLimit += step) {
        await before.restore();
        const done = await by
          .sendTransaction({ ...call, gasLimit })
          .then((sent) => sent.wait())
          .then((receipt) => receipt?.status === 1)
          .catch(() => false);
        if (!done) undone += 1;
        expect(await money(), `with ${gasLimit} gas`).to.deep.equal(done ? after : untouched);
      }
      expect(undone).to.be.greaterThan(20);
      await before.restore();
    }
  });
});

// Receipts that differ in one field and have the id of one charge.
const sameCharge = (due: DueCharge, count: number): DueCharge[] =>
  Array.from({ length: count }, (_, i) => ({ ...due, accruedAtMs: due.accruedAtMs + i }));

// Lines as an answer names them.
const plain = async (lines: ReturnType<Courtroom["linesOf"]>) =>
  (await lines).map(({ toolId, amount }) => ({ toolId, amount }));

// ERC-7821: calls in the name of a smart account, as its owner asks for them.
async function execute(
  account: Awaited<ReturnType<typeof ethers.deployContract>>,
  owner: Party,
  calls: readonly [target: { getAddress(): Promise<string> }, data: string][],
): Promise<void> {
  const encoded = ethers.AbiCoder.defaultAbiCoder().encode(
    ["tuple(address,uint256,bytes)[]"],
    [await Promise.all(calls.map(async ([target, data]) => [await target.getAddress(), 0, data]))],
  );
  await account.connect(owner).getFunction("execute")(`0x01${"0".repeat(62)}`, encoded);
}

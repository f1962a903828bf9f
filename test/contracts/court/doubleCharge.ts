import { expect } from "chai";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import { DAY, OPERATOR_LIMIT, time, usd } from "../fixture.ts";
import { CONTEST_DEPOSIT, courtroom, PREMIUM, rowsOf } from "./courtroom.ts";

const BOND = OPERATOR_LIMIT / 10n;

describe("a charge that was paid twice", () => {
  it("is given back once, with a premium for whoever proved it", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, operator, payer, reporter, insurance, bondLeft } =
      await courtroom();
    const double = charge({ amount: usd("3") });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double, charge()]), await settleCharges([charge(), again])];
    const prove = () => receiptCourt.connect(reporter).proveDoubleCharge(paid(first, double), paid(second, again));
    await expect(prove())
      .to.emit(receiptCourt, "DoubleChargeProven")
      .withArgs(double.id, payer, operator, second.batchId, reporter, usd("3"), PREMIUM);
    expect(await bonds.creditOf(payer)).to.equal(usd("3"));
    expect(await bonds.creditOf(reporter)).to.equal(PREMIUM);
    // As much as the premium, lest an operator accuse itself.
    expect(await bonds.creditOf(insurance)).to.equal(PREMIUM);
    expect(await bondLeft()).to.equal(BOND - usd("3") - 2n * PREMIUM);
    await expect(prove())
      .to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded")
      .withArgs(second.batchId, payer);
    await expect(
      receiptCourt.proveDoubleCharge(paid(second, again), paid(first, double)),
    ).to.be.revertedWithCustomError(receiptCourt, "NotDouble");
  });

  it("three times is given back twice", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer } = await courtroom();
    const triple = charge();
    const batches = [];
    for (let attempts = 0; attempts < 3; attempts++) {
      const due = { ...triple, attempts };
      batches.push(paid(await settleCharges([due]), due));
    }
    const [first, second, third] = batches;
    if (!first || !second || !third) throw new Error("there are three");
    await receiptCourt.proveDoubleCharge(second, third);
    await expect(receiptCourt.proveDoubleCharge(first, third)).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );
    await receiptCourt.proveDoubleCharge(first, second);
    await expect(receiptCourt.proveDoubleCharge(second, third)).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );
    expect(await bonds.creditOf(payer)).to.equal(usd("0.20"));
  });

  it("in one batch under two receipts is one too", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, payer } = await courtroom();
    const [one, other] = [charge(), charge()];
    const twin = { ...other, id: one.id };
    const batch = await settleCharges([one, twin]);
    await expect(receiptCourt.proveDoubleCharge(paid(batch, one), paid(batch, one))).to.be.revertedWithCustomError(
      receiptCourt,
      "NotDouble",
    );
    await receiptCourt.proveDoubleCharge(paid(batch, one), paid(batch, twin));
    expect(await bonds.creditOf(payer)).to.equal(usd("0.10"));
  });

  it("is none if the first attempt failed, or the line was refused", async () => {
    const {
      charge,
      settleCharges,
      paid,
      receiptCourt,
      staking,
      developer,
      listTool,
      fundStake,
      neighbour,
      fund,
      payer,
    } = await courtroom();
    const retried = charge({ chargedTo: neighbour });
    const failed = await settleCharges([retried, charge()]);
    await fund(neighbour, usd("10"));
    const again = { ...retried, attempts: 1 };
    const settled = await settleCharges([again, charge()]);
    await expect(receiptCourt.proveDoubleCharge(paid(failed, retried), paid(settled, again)))
      .to.be.revertedWithCustomError(receiptCourt, "NothingCharged")
      .withArgs(failed.batchId, neighbour);

    const poor = await listTool();
    await staking.connect(developer).requestWithdrawal(poor, 1n);
    const refused = charge({ toolId: poor });
    const [before, model] = [await settleCharges([refused, charge()]), charge({ toolId: null })];
    await fundStake(developer, 1n);
    await staking.connect(developer).stake(poor, 1n);
    const after = await settleCharges([refused, model]);
    await expect(receiptCourt.proveDoubleCharge(paid(before, refused), paid(after, refused)))
      .to.be.revertedWithCustomError(receiptCourt, "NothingCharged")
      .withArgs(before.batchId, payer);
  });

  it("is none of two charges, nor of two operators", async () => {
    const { charge, settleCharges, paid, receiptCourt, router, bonds, usdc, asAdmin, neighbour } = await courtroom();
    const [one, other] = [charge(), charge()];
    const [first, second] = [await settleCharges([one]), await settleCharges([other])];
    await expect(receiptCourt.proveDoubleCharge(paid(first, one), paid(second, other)))
      .to.be.revertedWithCustomError(receiptCourt, "NotDouble")
      .withArgs(one.id, other.id);

    await asAdmin(router.setOperatorLimit.populateTransaction(neighbour, usd("100")));
    await usdc.mint(neighbour, usd("100"));
    await usdc.connect(neighbour).approve(bonds, usd("100"));
    await bonds.connect(neighbour).post(neighbour, usd("100"));
    const stolen = { ...one, attempts: 7 };
    const forged = await settleCharges([stolen], { by: neighbour });
    await expect(receiptCourt.proveDoubleCharge(paid(first, one), paid(forged, stolen)))
      .to.be.revertedWithCustomError(receiptCourt, "NotDouble")
      .withArgs(one.id, one.id);
  });

  it("can be proven for 14 days, and pays what the bond has", async () => {
    const { charge, settleCharges, paid, receiptCourt, bonds, usdc, operator, payer, fund, reporter } =
      await courtroom();
    await fund(payer, usd("9000"));
    const double = charge({ toolId: null, amount: BOND + usd("2") });
    const again = { ...double, attempts: 1 };
    const [unseen, unseenAgain] = [charge(), charge()];
    const twin = { ...unseenAgain, id: unseen.id };
    const [first, second] = [await settleCharges([double, unseen]), await settleCharges([again, twin])];
    const prove = () => receiptCourt.connect(reporter).proveDoubleCharge(paid(first, double), paid(second, again));
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND);
    expect(await bonds.creditOf(reporter)).to.equal(0n);
    await usdc.mint(operator, usd("10"));
    await usdc.connect(operator).approve(bonds, usd("10"));
    await bonds.connect(operator).post(operator, usd("10"));
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND + usd("2"));
    await time.increase(14 * DAY);
    await expect(receiptCourt.proveDoubleCharge(paid(first, unseen), paid(second, twin))).to.be.revertedWithCustomError(
      receiptCourt,
      "WindowClosed",
    );
  });
});

describe("nothing is given back twice", () => {
  it("a charge that was proven double and is then contested", async () => {
    const { charge, settleCharges, paid, contest, receiptCourt, bonds, payer } = await courtroom();
    const double = charge({ amount: usd("3") });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double, charge()]), await settleCharges([again, charge()])];
    await receiptCourt.proveDoubleCharge(paid(first, double), paid(second, again));
    for (const batch of [first, second]) {
      await contest(batch);
      await time.increase(3 * DAY);
      await receiptCourt.refund(batch.batchId, payer);
    }
    // One of the two payments of the double, and of each row what is not the double.
    expect(await bonds.creditOf(payer)).to.equal(usd("3.20") + 2n * CONTEST_DEPOSIT);
  });

  it("a row that was given back, and a double charge or a court that refunds a call of it", async () => {
    const { charge, settleCharges, paid, contest, receiptCourt, bonds, payer, manager, asAdmin, neighbour } =
      await courtroom();
    await asAdmin(manager.grantRole.populateTransaction(3, neighbour, 0));
    const double = charge();
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double]), await settleCharges([again])];
    await contest(second);
    await time.increase(3 * DAY);
    await receiptCourt.refund(second.batchId, payer);
    await expect(receiptCourt.proveDoubleCharge(paid(first, double), paid(second, again)))
      .to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded")
      .withArgs(second.batchId, payer);
    await expect(receiptCourt.connect(neighbour).noteRefund(paid(second, again)))
      .to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded")
      .withArgs(second.batchId, payer);
    expect(await bonds.creditOf(payer)).to.equal(usd("0.10") + CONTEST_DEPOSIT);
  });

  it("a call that another court gave back, and then the row, the double or the same call", async () => {
    const { charge, settleCharges, paid, contest, receiptCourt, bonds, payer, manager, asAdmin, neighbour, stranger } =
      await courtroom();
    await asAdmin(manager.grantRole.populateTransaction(3, neighbour, 0));
    const court = receiptCourt.connect(neighbour);
    const double = charge({ amount: usd("3.000001"), calls: 2 });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double]), await settleCharges([again])];
    await expect(receiptCourt.connect(stranger).noteRefund(paid(first, double))).to.be.revertedWithCustomError(
      receiptCourt,
      "AccessManagedUnauthorized",
    );
    expect(await court.noteRefund.staticCall(paid(first, double))).to.deep.equal([payer.address, usd("1.500001")]);
    await expect(court.noteRefund(paid(first, double)))
      .to.emit(receiptCourt, "RefundNoted")
      .withArgs(double.id, payer, first.batchId, usd("1.500001"));
    await expect(court.noteRefund(paid(first, double))).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    expect((await receiptCourt.contestOf(first.batchId, payer)).accounted).to.equal(usd("1.500001"));

    await contest(first);
    await receiptCourt.proveDoubleCharge(paid(first, double), paid(second, again));
    await expect(court.noteRefund(paid(second, again))).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    await time.increase(3 * DAY);
    // Nothing of the row is left to be given back: its only charge is the one that was rightly paid.
    await expect(receiptCourt.refund(first.batchId, payer)).to.emit(receiptCourt, "RowRefunded");
    expect(await bonds.creditOf(payer)).to.equal(usd("3.000001") + CONTEST_DEPOSIT);
  });
});

describe("a forged receipt", () => {
  it("of another chain or router, an inner node, or no line of the batch proves nothing", async () => {
    const { charge, settleCharges, settle, settlementOf, paid, receiptCourt, leaf, domain } = await courtroom();
    const double = charge();
    const again = { ...double, attempts: 1 };
    const rest = [charge(), charge(), charge()];
    const [first, second] = [await settleCharges([double, ...rest]), await settleCharges([again, ...rest])];
    const good = paid(first, double);
    const later = paid(second, again);
    expect(await receiptCourt.leafOf(good.receipt)).to.equal(`0x${Buffer.from(leaf(double)).toString("hex")}`);
    for (const forged of [
      { ...good, receipt: { ...good.receipt, amount: usd("0.11") } },
      { ...good, receipt: { ...good.receipt, chargeId: rest[0]?.id ?? "" } },
      { ...good, path: good.path.slice(1) },
      { ...good, path: [] },
      { ...good, path: [...good.path, first.batchId] },
    ]) {
      await expect(receiptCourt.proveDoubleCharge(forged, later)).to.be.revertedWithCustomError(
        receiptCourt,
        "ReceiptNotInBatch",
      );
    }

    for (const elsewhere of [
      { ...domain, chainId: 1 },
      { ...domain, router: domain.router.replace(/.$/, (last) => (last === "0" ? "1" : "0")) as typeof domain.router },
    ]) {
      // A batch whose receipts are good elsewhere.
      const { root: batchId } = createMerkleTree([leafOf(elsewhere, double)]);
      const settlement = await settlementOf(await settle(rowsOf([double]), { batchId }));
      const proof = { settlement, receipt: receiptOf(double), path: [] };
      await expect(receiptCourt.proveDoubleCharge(proof, later)).to.be.revertedWithCustomError(
        receiptCourt,
        "ReceiptNotInBatch",
      );
    }
  });
});

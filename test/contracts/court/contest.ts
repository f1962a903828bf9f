import { expect } from "chai";
import { DAY, freshHash, networkHelpers, OPERATOR_LIMIT, time, usd } from "../fixture.ts";
import { CONTEST_DEPOSIT, courtroom, rowsOf } from "./courtroom.ts";

const BOND = OPERATOR_LIMIT / 10n;

describe("a contested row", () => {
  it("that has receipts costs whoever contested it the deposit, which is the operator's", async () => {
    const { charge, settleCharges, contest, answer, receiptCourt, bonds, operator, payer, bondLeft, tool } =
      await courtroom();
    const batch = await settleCharges([
      charge(),
      charge({ amount: usd("2") }),
      charge({ toolId: null, amount: usd("0.03") }),
    ]);
    await expect(contest(batch))
      .to.emit(receiptCourt, "Contested")
      .withArgs(batch.batchId, payer, operator, payer, usd("2.13"), (await time.latest()) + 3 * DAY + 3, [
        [`0x${"0".repeat(32)}`, usd("0.03")],
        [tool, usd("2.10")],
      ]);
    await expect(answer(batch)).to.emit(receiptCourt, "Answered").withArgs(batch.batchId, payer, operator);
    expect(await bonds.creditOf(operator)).to.equal(CONTEST_DEPOSIT);
    expect(await bondLeft()).to.equal(BOND);

    await time.increase(3 * DAY);
    await expect(receiptCourt.refund(batch.batchId, payer)).to.be.revertedWithCustomError(receiptCourt, "NotContested");
    await expect(contest(batch))
      .to.be.revertedWithCustomError(receiptCourt, "AlreadyContested")
      .withArgs(batch.batchId, payer);
    await bonds.connect(operator).claim();
  });

  it("without receipts is given back from the bond, with the deposit", async () => {
    const {
      charge,
      settleCharges,
      contest,
      receiptCourt,
      bonds,
      router,
      operator,
      payer,
      stranger,
      bondLeft,
      usdc,
      settle,
    } = await courtroom();
    const real = charge();
    const [row] = rowsOf([real]);
    if (!row) throw new Error("there is a row");
    const batch = await settleCharges([real], { rows: [{ ...row, modelCost: usd("5") }] });
    await contest(batch, { by: stranger });
    const { until } = await receiptCourt.contestOf(batch.batchId, payer);
    await time.increaseTo(until - 2n);
    await expect(receiptCourt.refund(batch.batchId, payer)).to.be.revertedWithCustomError(receiptCourt, "WindowOpen");
    await time.increaseTo(until);
    await expect(receiptCourt.refund(batch.batchId, payer))
      .to.emit(receiptCourt, "RowRefunded")
      .withArgs(batch.batchId, payer, operator, usd("5.10"), 0n)
      .and.to.emit(router, "OperatorBonded")
      .withArgs(operator, false);
    expect(await bonds.creditOf(payer)).to.equal(usd("5.10"));
    expect(await bonds.creditOf(stranger)).to.equal(CONTEST_DEPOSIT);
    expect(await bondLeft()).to.equal(BOND - usd("5.10"));
    await expect(settle([{ payer, modelCost: 1n }])).to.be.revertedWithCustomError(router, "BondTooLow");
    await expect(receiptCourt.refund(batch.batchId, payer)).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );

    const before = await usdc.balanceOf(payer);
    await bonds.payout([payer, stranger]);
    expect(await usdc.balanceOf(payer)).to.equal(before + usd("5.10"));
  });

  it("is owed what the bond cannot pay, until it can", async () => {
    const { charge, settleCharges, contest, receiptCourt, bonds, usdc, operator, payer, fund } = await courtroom();
    await fund(payer, usd("3000"));
    const batch = await settleCharges([charge()], { rows: [{ payer, modelCost: usd("1500") }] });
    await contest(batch);
    await time.increase(3 * DAY);
    await expect(receiptCourt.refund(batch.batchId, payer))
      .to.emit(receiptCourt, "RowRefunded")
      .withArgs(batch.batchId, payer, operator, BOND, usd("500"));
    await usdc.mint(operator, usd("600"));
    await usdc.connect(operator).approve(bonds, usd("600"));
    await bonds.connect(operator).post(operator, usd("600"));
    await receiptCourt.refund(batch.batchId, payer);
    expect(await bonds.creditOf(payer)).to.equal(usd("1500") + CONTEST_DEPOSIT);
    expect((await bonds.bondOf(operator)).amount).to.equal(usd("100"));
  });

  it("can still be paid from a bond that is on its way out", async () => {
    const { charge, settleCharges, contest, receiptCourt, bonds, operator, payer } = await courtroom();
    const batch = await settleCharges([charge()], { rows: [{ payer, modelCost: usd("7") }] });
    await bonds.connect(operator).requestWithdrawal(operator, BOND);
    await time.increase(7 * DAY - 60);
    await contest(batch);
    await time.increase(3 * DAY);
    await receiptCourt.refund(batch.batchId, payer);
    await time.increase(21 * DAY);
    await bonds.connect(operator).withdraw(operator, operator);
    expect(await bonds.creditOf(payer)).to.equal(usd("7") + CONTEST_DEPOSIT);
    expect((await bonds.bondOf(operator)).amount).to.equal(0n);
  });

  it("is answered in several transactions if it has many receipts, and none of them counts twice", async () => {
    const { charge, settleCharges, contest, receiptCourt, bonds, answerOf, linesOf, leaf, operator, payer } =
      await courtroom();
    const charges = Array.from({ length: 9 }, (_, i) => charge({ amount: BigInt(i + 1) * 1_000n }));
    charges.sort((one, other) => Buffer.compare(leaf(one), leaf(other)));
    const batch = await settleCharges(charges);
    await contest(batch);
    let lines = await linesOf(batch);
    const show = async (some: typeof charges) => {
      const sent = await receiptCourt.connect(operator).answer(batch.batchId, payer, answerOf(batch, lines, some));
      const [shown] = await receiptCourt.queryFilter(receiptCourt.filters.ReceiptsShown, sent.blockNumber ?? 0);
      if (shown) lines = shown.args.lines;
    };
    await show(charges.slice(0, 4));
    await expect(show(charges.slice(2, 5))).to.be.revertedWithCustomError(receiptCourt, "ReceiptsOutOfOrder");
    const stale = lines;
    await show(charges.slice(4, 8));
    await expect(
      receiptCourt.connect(operator).answer(batch.batchId, payer, answerOf(batch, stale, charges.slice(8))),
    ).to.be.revertedWithCustomError(receiptCourt, "LinesMismatch");
    await show(charges.slice(8));
    expect(await bonds.creditOf(operator)).to.equal(CONTEST_DEPOSIT);
  });

  it("is answered by anybody who has its receipts, and its deposit is the operator's all the same", async () => {
    const { charge, settleCharges, contest, answer, bonds, receiptCourt, operator, payer, stranger } =
      await courtroom();
    const batch = await settleCharges([charge(), charge()]);
    await contest(batch);
    await expect(answer(batch, batch.charges, { by: stranger }))
      .to.emit(receiptCourt, "Answered")
      .withArgs(batch.batchId, payer, operator);
    expect(await bonds.creditOf(operator)).to.equal(CONTEST_DEPOSIT);
    expect(await bonds.creditOf(stranger)).to.equal(0n);
  });

  it("is not answered by receipts of somebody else, of another batch, with another sum, twice, or too late", async () => {
    const { charge, settleCharges, contest, receiptCourt, answerOf, linesOf, operator, payer, neighbour, fund } =
      await courtroom();
    await fund(neighbour, usd("10"));
    const [own, twin] = [charge(), charge()];
    const foreign = charge({ chargedTo: neighbour });
    const other = await settleCharges([charge(), charge()]);
    const batch = await settleCharges([own, twin, foreign], {
      rows: [
        ...rowsOf([foreign]),
        { payer, modelCost: usd("0.10"), lines: [[rowsOf([own])[0]?.lines?.[0]?.[0] ?? "", usd("0.20")]] },
      ],
    });
    await contest(batch);
    const lines = await linesOf(batch);
    const answer = (shown: ReturnType<typeof answerOf>) =>
      receiptCourt.connect(operator).answer(batch.batchId, payer, shown);
    const refused = (shown: ReturnType<typeof answerOf>, error: string) =>
      expect(answer(shown)).to.be.revertedWithCustomError(receiptCourt, error);

    await refused(answerOf(batch, lines, [foreign]), "ReceiptMismatch");
    await refused(answerOf(other, lines, other.charges), "ReceiptNotInBatch");
    const whole = answerOf(batch, lines, [own, twin]);
    const [first] = whole.receipts;
    if (!first) throw new Error("there are receipts");
    await refused({ ...whole, receipts: [first, first] }, "ReceiptsOutOfOrder");
    await refused(
      { ...whole, receipts: whole.receipts.map((receipt) => ({ ...receipt, amount: usd("0.15") })) },
      "ReceiptExceedsLine",
    );
    const smaller = answerOf(batch, lines, [own]);
    await refused(
      { ...smaller, receipts: smaller.receipts.map((receipt) => ({ ...receipt, amount: usd("0.05") })) },
      "ReceiptNotInBatch",
    );
    await refused(
      { ...whole, lines: whole.lines.map(({ toolId }) => ({ toolId, amount: usd("0.10") })) },
      "LinesMismatch",
    );
    await refused({ ...whole, places: [0, 0] }, "ReceiptMismatch");
    await expect(answer(whole)).to.emit(receiptCourt, "ReceiptsShown");
    expect((await receiptCourt.contestOf(batch.batchId, payer)).stage).to.equal(1n);

    await time.increase(3 * DAY);
    const left = whole.lines.map((line) => (BigInt(line.toolId) === 0n ? line : { ...line, amount: 0n }));
    await refused(answerOf(batch, left, []), "WindowClosed");
    await receiptCourt.refund(batch.batchId, payer);
  });

  it("is contested within 7 days, and only as it was settled", async () => {
    const { charge, settleCharges, contest, receiptCourt, stranger, payer } = await courtroom();
    const batch = await settleCharges([charge()]);
    const { settlement } = batch;
    for (const forged of [
      { ...settlement, operator: stranger.address },
      { ...settlement, call: `${settlement.call.replace(/01$/, "02")}00` },
      { ...settlement, exceptions: [{ row: 0n, lines: 1n }] },
      { ...settlement, call: `${settlement.call.slice(0, 74)}${freshHash().slice(2)}${settlement.call.slice(138)}` },
    ]) {
      await expect(contest({ ...batch, settlement: forged })).to.be.revertedWithCustomError(receiptCourt, "NotSettled");
    }
    await expect(contest(batch, { whose: stranger }))
      .to.be.revertedWithCustomError(receiptCourt, "NothingCharged")
      .withArgs(batch.batchId, stranger);
    await networkHelpers.mine();
    await time.increase(7 * DAY);
    await expect(contest(batch)).to.be.revertedWithCustomError(receiptCourt, "WindowClosed");
    expect((await receiptCourt.contestOf(batch.batchId, payer)).stage).to.equal(0n);
  });

  it("does not include what was refused, nor what failed", async () => {
    const {
      charge,
      settleCharges,
      contest,
      answer,
      answerOf,
      receiptCourt,
      staking,
      developer,
      listTool,
      operator,
      payer,
      tool,
      neighbour,
    } = await courtroom();
    const poor = await listTool();
    await staking.connect(developer).requestWithdrawal(poor, 1n);
    const [refused, charged, failed] = [charge({ toolId: poor }), charge(), charge({ chargedTo: neighbour })];
    const batch = await settleCharges([refused, charged, failed]);
    expect(batch.settlement.exceptions).to.have.length(2);
    const { lines, charged: total } = await receiptCourt.chargedIn(batch.settlement, payer);
    expect(total).to.equal(usd("0.10"));
    expect(lines.filter(({ amount }) => amount > 0n).map(({ toolId }) => toolId)).to.deep.equal([tool]);
    await expect(contest(batch, { whose: neighbour })).to.be.revertedWithCustomError(receiptCourt, "NothingCharged");

    await contest(batch);
    // What was refused cannot stand in for what was charged.
    const shown = answerOf(batch, lines, [refused]);
    const place = lines.findIndex(({ amount }) => amount > 0n);
    await expect(
      receiptCourt.connect(operator).answer(batch.batchId, payer, { ...shown, places: [place] }),
    ).to.be.revertedWithCustomError(receiptCourt, "ReceiptMismatch");
    await answer(batch, [charged]);
  });
});

// An operator that charges twice and hands out no receipts: whoever contests in order to see them loses nothing by it.
import { expect } from "chai";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { DAY, OPERATOR_LIMIT, time, usd } from "../fixture.ts";
import { CONTEST_DEPOSIT, courtroom, PREMIUM } from "./courtroom.ts";

const BOND = OPERATOR_LIMIT / 10n;

describe("a double charge whose receipts were withheld", () => {
  it("is given back with the deposits of both rows, whoever contested them", async () => {
    const { first, second, prove, contest, answer, bonds, payer, reporter, stranger, insurance, bondLeft } =
      await withheld();
    await contest(first, { by: stranger });
    await contest(second);
    for (const batch of [first, second]) await answer(batch);
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(usd("0.10") + CONTEST_DEPOSIT);
    expect(await bonds.creditOf(stranger)).to.equal(CONTEST_DEPOSIT);
    expect(await bonds.creditOf(reporter)).to.equal(usd("0.10"));
    expect(await bonds.creditOf(insurance)).to.equal(2n * CONTEST_DEPOSIT + usd("0.10"));
    expect(await bondLeft()).to.equal(BOND - 4n * CONTEST_DEPOSIT - usd("0.30"));
  });

  it("brings a deposit back once, however many charges of the row are proven", async () => {
    const { charge, settleCharges, paid, contest, answer, receiptCourt, bonds, payer, bondLeft } = await courtroom();
    const once = [charge({ amount: usd("2") }), charge({ amount: usd("3") })];
    const again = once.map((due) => ({ ...due, attempts: 1 }));
    const [first, second] = [await settleCharges(once), await settleCharges(again)];
    await contest(second);
    await answer(second);
    for (const [i, due] of once.entries()) {
      await receiptCourt.proveDoubleCharge(paid(first, due), paid(second, again[i] ?? due));
    }
    expect(await bonds.creditOf(payer)).to.equal(usd("5") + CONTEST_DEPOSIT);
    expect(await bondLeft()).to.equal(BOND - usd("5") - 2n * CONTEST_DEPOSIT - 4n * PREMIUM);
  });

  it("that is proven before the operator has answered brings the deposit back with the answer", async () => {
    const { charge, settleCharges, paid, contest, answer, receiptCourt, bonds, operator, payer, insurance } =
      await courtroom();
    const once = [charge({ amount: usd("2") }), charge({ amount: usd("3") })];
    const again = once.map((due) => ({ ...due, attempts: 1 }));
    const [first, second] = [await settleCharges(once), await settleCharges(again)];
    const prove = (i: number) =>
      receiptCourt.proveDoubleCharge(paid(first, once[i] as DueCharge), paid(second, again[i] as DueCharge));
    await contest(second);
    await prove(0);
    await answer(second);
    expect(await bonds.creditOf(payer)).to.equal(usd("2") + CONTEST_DEPOSIT);
    expect(await bonds.creditOf(operator)).to.equal(0n);
    // And not again with the next proof.
    await prove(1);
    expect(await bonds.creditOf(payer)).to.equal(usd("5") + CONTEST_DEPOSIT);
    expect(await bonds.creditOf(insurance)).to.equal(2n * PREMIUM);
  });

  it("is owed the deposit that the bond cannot pay", async () => {
    const { charge, settleCharges, paid, contest, answer, receiptCourt, bonds, payer, fund, operator, postBond } =
      await courtroom();
    await fund(payer, usd("9000"));
    const double = charge({ toolId: null, amount: BOND });
    const again = { ...double, attempts: 1 };
    const [first, second] = [await settleCharges([double]), await settleCharges([again])];
    await contest(second);
    await answer(second);
    const prove = () => receiptCourt.proveDoubleCharge(paid(first, double), paid(second, again));
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND);
    await expect(prove()).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
    await postBond(operator, usd("10"));
    await time.increase(15 * DAY);
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND + CONTEST_DEPOSIT);
    await expect(prove()).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
  });

  it("of another row leaves the deposit of a frivolous contest with the operator", async () => {
    const { charge, settleCharges, prove, contest, answer, bonds, operator, stranger } = await withheld();
    const good = await settleCharges([charge()]);
    await contest(good, { by: stranger });
    await answer(good);
    await prove();
    expect(await bonds.creditOf(operator)).to.equal(CONTEST_DEPOSIT);
    expect(await bonds.creditOf(stranger)).to.equal(0n);
  });
});

// A call of ten cents that was paid twice.
async function withheld() {
  const court = await courtroom();
  const { charge, settleCharges, paid, receiptCourt, reporter } = court;
  const double = charge();
  const again = { ...double, attempts: 1 };
  const [first, second] = [await settleCharges([double]), await settleCharges([again])];
  const prove = () => receiptCourt.connect(reporter).proveDoubleCharge(paid(first, double), paid(second, again));
  return { ...court, first, second, prove };
}

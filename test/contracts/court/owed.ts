// What a bond could not pay stays owed, whatever the operator does to be rid of it.
import { expect } from "chai";
import { DAY, OPERATOR_LIMIT, time, usd } from "../fixture.ts";
import { CONTEST_DEPOSIT, courtroom } from "./courtroom.ts";

const BOND = OPERATOR_LIMIT / 10n;
const OWED = usd("2");

describe("a double charge that the bond could not pay", () => {
  it("stays owed when the 14 days are over, once it was proven in them", async () => {
    const { prove, postBond, operator, bonds, payer } = await debt();
    await time.increase(15 * DAY);
    await postBond(operator, BOND);
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND + OWED);
  });

  it("stays owed when somebody contests its row and the operator says nothing", async () => {
    const { prove, postBond, operator, bonds, payer, contest, second, stranger, receiptCourt } = await debt();
    await contest(second, { by: stranger });
    await time.increase(3 * DAY);
    await receiptCourt.refund(second.batchId, payer);
    expect(await bonds.creditOf(stranger)).to.equal(CONTEST_DEPOSIT);
    await postBond(operator, BOND);
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND + OWED);
    await expect(receiptCourt.refund(second.batchId, payer)).to.be.revertedWithCustomError(
      receiptCourt,
      "AlreadyRefunded",
    );
    await expect(prove()).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
  });

  it("stays owed when the row of the payment that counts is given back", async () => {
    const { prove, postBond, operator, bonds, payer, contest, first, stranger, receiptCourt } = await debt();
    await contest(first, { by: stranger });
    await time.increase(3 * DAY);
    await receiptCourt.refund(first.batchId, payer);
    await postBond(operator, BOND);
    await prove();
    expect(await bonds.creditOf(payer)).to.equal(BOND + OWED);
    await expect(prove()).to.be.revertedWithCustomError(receiptCourt, "AlreadyRefunded");
  });
});

// A charge that was paid twice and is proven: the bond is empty, and not all of it is given back.
async function debt() {
  const court = await courtroom();
  const { charge, settleCharges, paid, receiptCourt, bonds, payer, fund, reporter } = court;
  await fund(payer, usd("9000"));
  const double = charge({ toolId: null, amount: BOND + OWED });
  const again = { ...double, attempts: 1 };
  const [first, second] = [await settleCharges([double]), await settleCharges([again])];
  const prove = () => receiptCourt.connect(reporter).proveDoubleCharge(paid(first, double), paid(second, again));
  await prove();
  expect(await bonds.creditOf(payer)).to.equal(BOND);
  return { ...court, first, second, prove };
}

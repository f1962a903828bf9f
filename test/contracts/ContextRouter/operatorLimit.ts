import { expect } from "chai";
import { ADMIN_DELAY_SECONDS } from "../../../scripts/protocol/description.ts";
import { marketplace, OPERATOR_LIMIT, time, usd } from "../fixture.ts";

const HOUR_SECONDS = 60 * 60;
const PERIOD_SECONDS = 8 * HOUR_SECONDS;

describe("ContextRouter.setOperatorLimit", () => {
  it("makes an operator of an account that was none", async () => {
    const { router, settle, asAdmin, postBond, stranger, payer, tool } = await marketplace();
    await expect(asAdmin(router.setOperatorLimit.populateTransaction(stranger, usd("5"))))
      .to.emit(router, "OperatorLimitSet")
      .withArgs(stranger, usd("5"));
    await postBond(stranger, usd("100"));
    await settle([{ payer, lines: [[tool, usd("2")]] }], { by: stranger });
    expect(await router.operatorLimit(stranger)).to.deep.equal([usd("5"), usd("3"), true]);
  });

  it("allows the largest limit and not one unit more", async () => {
    const { router, asAdmin, operator } = await marketplace();
    const max = await router.MAX_OPERATOR_LIMIT();
    await expect(asAdmin(router.setOperatorLimit.populateTransaction(operator, max + 1n)))
      .to.be.revertedWithCustomError(router, "LimitOutOfBounds")
      .withArgs(max + 1n, max);
    await asAdmin(router.setOperatorLimit.populateTransaction(operator, max));
    expect(await router.operatorLimit(operator)).to.deep.equal([max, max, false]);
  });

  it("ends an operator with zero", async () => {
    const { router, settle, asAdmin, operator, payer, tool } = await marketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(operator, 0n));
    await expect(settle([{ payer, lines: [[tool, 1n]] }]))
      .to.be.revertedWithCustomError(router, "NotOperator")
      .withArgs(operator);
  });

  it("leaves the limits of other operators alone", async () => {
    const { router, settle, asAdmin, postBond, operator, stranger, payer, tool } = await marketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(stranger, usd("5")));
    await postBond(stranger, usd("100"));
    await settle([{ payer, lines: [[tool, usd("2")]] }], { by: stranger });
    expect(await router.operatorLimit(operator)).to.deep.equal([OPERATOR_LIMIT, OPERATOR_LIMIT, true]);
  });
});

describe("ContextRouter.operatorLimit", () => {
  it("counts what was settled for 24 hours at least, and for 32 at the most", async () => {
    const { router, settle, operator, payer, tool } = await marketplace();
    // The last second of a period: 24 hours later all of it still must be remembered.
    const end = (Math.floor((await time.latest()) / PERIOD_SECONDS) + 2) * PERIOD_SECONDS - 1;
    await time.setNextBlockTimestamp(end);
    await settle([{ payer, lines: [[tool, usd("7")]] }]);
    expect(await time.latest()).to.equal(end);
    await time.increaseTo(end + 24 * HOUR_SECONDS - 1);
    expect((await router.operatorLimit(operator)).left).to.equal(OPERATOR_LIMIT - usd("7"));
    await time.increaseTo(end + 32 * HOUR_SECONDS);
    expect((await router.operatorLimit(operator)).left).to.equal(OPERATOR_LIMIT);
  });
});

describe("ContextRouter.suspendOperator", () => {
  it("ends an operator at once", async () => {
    const { router, settle, guardian, operator, payer, tool } = await marketplace();
    await expect(router.connect(guardian).suspendOperator(operator))
      .to.emit(router, "OperatorLimitSet")
      .withArgs(operator, 0n);
    expect(await router.operatorLimit(operator)).to.deep.equal([0n, 0n, true]);
    await expect(settle([{ payer, lines: [[tool, 1n]] }]))
      .to.be.revertedWithCustomError(router, "NotOperator")
      .withArgs(operator);
  });

  it("is undone by the admin alone", async () => {
    const { router, settle, asAdmin, guardian, operator, payer, tool } = await marketplace();
    await router.connect(guardian).suspendOperator(operator);
    await asAdmin(router.setOperatorLimit.populateTransaction(operator, usd("1")));
    await settle([{ payer, lines: [[tool, usd("1")]] }]);
  });

  it("forgets nothing of what the operator has spent", async () => {
    const { router, settle, manager, admin, guardian, operator, payer, tool } = await marketplace();
    const back = await router.setOperatorLimit.populateTransaction(operator, usd("10"));
    // The admin's decision ripens first, so that suspension and return lie within one day.
    await manager.connect(admin).schedule(back.to, back.data, 0);
    await time.increase(ADMIN_DELAY_SECONDS);
    await settle([{ payer, lines: [[tool, usd("7")]] }]);
    await router.connect(guardian).suspendOperator(operator);
    await manager.connect(admin).execute(back.to, back.data);
    expect(await router.operatorLimit(operator)).to.deep.equal([usd("10"), usd("3"), true]);
  });
});

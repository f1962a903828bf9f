import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { OperatorBonds__factory } from "../../../typechain-types/index.ts";
import { DAY, marketplace, OPERATOR_LIMIT, type Party, time, usd } from "../fixture.ts";

// A tenth of the limit.
const BOND = OPERATOR_LIMIT / 10n;
const DELAY = 21 * DAY;

async function bondedMarketplace() {
  const market = await marketplace();
  const { bonds, usdc, payer, operator, settle } = market;
  const row = { payer, modelCost: usd("0.10") };
  return {
    ...market,
    fundBond: async (account: Party, amount: bigint) => {
      await usdc.mint(account, amount);
      await usdc.connect(account).approve(bonds, amount);
    },
    asOperator: bonds.connect(operator),
    settleSomething: ({ by = operator } = {}) => settle([row], { by }),
  };
}

describe("an operator's bond", () => {
  it("is what a limit asks for, a tenth of it and at least 100 USDC", async () => {
    const { bonds, operator, settleSomething } = await bondedMarketplace();
    expect(await bonds.requiredBond(OPERATOR_LIMIT)).to.equal(BOND);
    expect(await bonds.requiredBond(10_000_001n)).to.equal(usd("100"));
    expect(await bonds.requiredBond(usd("2000") + 1n)).to.equal(usd("200") + 1n);
    expect((await bonds.bondOf(operator)).amount).to.equal(BOND);
    await settleSomething();
  });

  it("that is missing stops an operator at once, and one that comes lets it go on", async () => {
    const { router, asAdmin, neighbour, bonds, fundBond, settleSomething } = await bondedMarketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(neighbour, usd("500")));
    await expect(settleSomething({ by: neighbour }))
      .to.be.revertedWithCustomError(router, "BondTooLow")
      .withArgs(neighbour);
    expect(await router.operatorLimit(neighbour)).to.deep.equal([usd("500"), usd("500"), false]);

    await fundBond(neighbour, usd("100"));
    await bonds.connect(neighbour).post(neighbour, usd("100") - 1n);
    await expect(settleSomething({ by: neighbour })).to.be.revertedWithCustomError(router, "BondTooLow");
    await expect(bonds.connect(neighbour).post(neighbour, 1n))
      .to.emit(router, "OperatorBonded")
      .withArgs(neighbour, true)
      .and.to.emit(bonds, "BondPosted")
      .withArgs(neighbour, neighbour, 1n);
    await settleSomething({ by: neighbour });
  });

  it("must grow with the limit", async () => {
    const { router, asAdmin, operator, asOperator, fundBond, settleSomething } = await bondedMarketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(operator, OPERATOR_LIMIT + usd("10")));
    await expect(settleSomething()).to.be.revertedWithCustomError(router, "BondTooLow");
    await fundBond(operator, usd("1"));
    await asOperator.post(operator, usd("1"));
    await settleSomething();
  });

  it("must follow the parameters, as soon as anybody has it looked at", async () => {
    const { router, bonds, asAdmin, operator, stranger, settleSomething } = await bondedMarketplace();
    await asAdmin(bonds.setParameters.populateTransaction({ minimumBond: BOND + 1n, limitBps: 0 }));
    await settleSomething();
    await expect(router.connect(stranger).refreshBond(operator))
      .to.emit(router, "OperatorBonded")
      .withArgs(operator, false);
    await expect(settleSomething()).to.be.revertedWithCustomError(router, "BondTooLow");
    await asAdmin(bonds.setParameters.populateTransaction({ minimumBond: BOND, limitBps: 0 }));
    await router.connect(stranger).refreshBond(operator);
    await expect(router.connect(stranger).refreshBond(operator)).not.to.emit(router, "OperatorBonded");
    await settleSomething();
  });

  it("counts no longer when it is asked back, and leaves 21 days later", async () => {
    const { bonds, router, operator, asOperator, usdc, stranger, settleSomething } = await bondedMarketplace();
    await expect(asOperator.requestWithdrawal(operator, BOND + 1n))
      .to.be.revertedWithCustomError(bonds, "WithdrawalExceedsBond")
      .withArgs(BOND + 1n, BOND);
    await asOperator.requestWithdrawal(operator, 1n);
    await expect(settleSomething()).to.be.revertedWithCustomError(router, "BondTooLow");
    const readyAt = (await time.latest()) + DELAY;
    await time.increaseTo(readyAt - 2);
    await expect(asOperator.withdraw(operator, operator))
      .to.be.revertedWithCustomError(bonds, "BondNotReady")
      .withArgs(readyAt - 1, readyAt);
    await time.increaseTo(readyAt);
    await expect(asOperator.withdraw(operator, bonds)).to.be.revertedWithCustomError(bonds, "InvalidRecipient");
    await expect(asOperator.withdraw(operator, stranger))
      .to.emit(bonds, "BondWithdrawn")
      .withArgs(operator, stranger, 1n);
    expect(await usdc.balanceOf(stranger)).to.equal(1n);
    await expect(asOperator.withdraw(operator, operator))
      .to.be.revertedWithCustomError(bonds, "NoBondWithdrawal")
      .withArgs(operator);
  });

  it("stays whole if the request is taken back", async () => {
    const { bonds, operator, asOperator, settleSomething } = await bondedMarketplace();
    await asOperator.requestWithdrawal(operator, BOND);
    await expect(asOperator.requestWithdrawal(operator, 0n)).to.emit(bonds, "BondRequested").withArgs(operator, 0n, 0n);
    await settleSomething();
    await expect(asOperator.withdraw(operator, operator)).to.be.revertedWithCustomError(bonds, "NoBondWithdrawal");
  });

  it("can belong to a cold key, which alone adds to it and takes it back", async () => {
    const { bonds, operator, asOperator, treasury, stranger, fundBond } = await bondedMarketplace();
    expect(await bonds.ownerOf(operator)).to.equal(operator);
    await expect(bonds.connect(stranger).nameOwner(operator, stranger))
      .to.be.revertedWithCustomError(bonds, "NotBondOwner")
      .withArgs(stranger, operator);
    await expect(asOperator.nameOwner(operator, ZeroAddress)).to.be.revertedWithCustomError(bonds, "InvalidOwner");
    await expect(asOperator.nameOwner(operator, treasury)).to.emit(bonds, "OwnerNamed").withArgs(operator, treasury);
    expect(await bonds.ownerOf(operator)).to.equal(treasury);

    for (const call of [
      asOperator.requestWithdrawal(operator, BOND),
      asOperator.withdraw(operator, operator),
      asOperator.post(operator, 1n),
      asOperator.nameOwner(operator, operator),
    ]) {
      await expect(call).to.be.revertedWithCustomError(bonds, "NotBondOwner").withArgs(operator, treasury);
    }
    await fundBond(treasury, 1n);
    await bonds.connect(treasury).post(operator, 1n);
    await bonds.connect(treasury).requestWithdrawal(operator, BOND + 1n);
    await time.increase(DELAY);
    await bonds.connect(treasury).withdraw(operator, treasury);
    expect((await bonds.bondOf(operator)).amount).to.equal(0n);
  });

  it("of nothing is none", async () => {
    const { bonds, operator, asOperator } = await bondedMarketplace();
    await expect(asOperator.post(operator, 0n)).to.be.revertedWithCustomError(bonds, "ZeroAmount");
  });

  it("is touched by the court alone, which is named once", async () => {
    const { bonds, asAdmin, admin, operator, receiptCourt, stranger } = await bondedMarketplace();
    const intruder = bonds.connect(stranger);
    for (const call of [
      intruder.seize(operator, 1n, stranger),
      intruder.takeDeposit(operator, 1n),
      intruder.releaseDeposit(stranger, 1n),
    ]) {
      await expect(call).to.be.revertedWithCustomError(bonds, "NotCourt").withArgs(stranger);
    }
    await expect(asAdmin(bonds.nameCourt.populateTransaction(admin)))
      .to.be.revertedWithCustomError(bonds, "CourtIsFixed")
      .withArgs(receiptCourt);
    await expect(intruder.nameCourt(stranger)).to.be.revertedWithCustomError(bonds, "AccessManagedUnauthorized");
    await expect(intruder.setParameters({ minimumBond: usd("10"), limitBps: 0 })).to.be.revertedWithCustomError(
      bonds,
      "AccessManagedUnauthorized",
    );
  });

  it("is asked for within bounds that no admin can leave", async () => {
    const { bonds, asAdmin } = await bondedMarketplace();
    for (const [minimumBond, limitBps, args] of [
      [usd("10") - 1n, 0, [usd("10") - 1n, usd("10"), usd("100000")]],
      [usd("100000") + 1n, 0, [usd("100000") + 1n, usd("10"), usd("100000")]],
      [usd("10"), 10_001, [10_001n, 0n, 10_000n]],
    ] as const) {
      await expect(asAdmin(bonds.setParameters.populateTransaction({ minimumBond, limitBps })))
        .to.be.revertedWithCustomError(bonds, "ParameterOutOfBounds")
        .withArgs(...args);
    }
    await asAdmin(bonds.setParameters.populateTransaction({ minimumBond: usd("10"), limitBps: 10_000 }));
    expect(await bonds.parameters()).to.deep.equal([usd("10"), 10_000n]);
  });

  it("delays longer than any dispute about a batch lasts", async () => {
    const { bonds, receiptCourt } = await bondedMarketplace();
    const longest = (await receiptCourt.CONTEST_WINDOW()) + (await receiptCourt.ANSWER_WINDOW());
    expect(await receiptCourt.PROOF_WINDOW()).to.be.greaterThan(longest);
    expect(await bonds.WITHDRAWAL_DELAY()).to.be.greaterThan(await receiptCourt.PROOF_WINDOW());
    expect(OperatorBonds__factory.bytecode.length / 2).to.be.lessThan(24_576);
  });
});

describe("rows of a batch", () => {
  it("are in the order of their payers, so that nobody has two", async () => {
    const { router, operator, payer, neighbour, fund } = await bondedMarketplace();
    await fund(neighbour, usd("10"));
    const [low, high] = [payer, neighbour].sort((one, other) => (BigInt(one.address) < BigInt(other.address) ? -1 : 1));
    if (!low || !high) throw new Error("there are two");
    const pack = (...people: Party[]) =>
      `0x${people.map(({ address }) => `${address.slice(2)}00${"0".repeat(11)}100`).join("")}`;
    const settle = async (batchId: string, rows: string) =>
      router.connect(operator).settle(await router.headOf(operator), batchId, [], rows);
    await expect(settle(`0x${"1".repeat(64)}`, pack(high, low))).to.be.revertedWithCustomError(
      router,
      "RowsOutOfOrder",
    );
    await expect(settle(`0x${"1".repeat(64)}`, pack(low, low))).to.be.revertedWithCustomError(router, "RowsOutOfOrder");
    await settle(`0x${"1".repeat(64)}`, pack(low, high));
  });
});

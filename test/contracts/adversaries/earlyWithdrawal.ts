import { expect } from "chai";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("a developer who cheats and asks the stake back first", () => {
  it("is slashed all the same, out of what it asked back", async () => {
    const { staking, adjudicator, developer: thief, payer, tool } = await marketplace();
    await staking.connect(thief).requestWithdrawal(tool, STAKE);
    const terms = slashTerms({ refunds: [[payer, STAKE]] });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    expect((await staking.tool(tool)).withdrawing).to.equal(0n);
    expect(await staking.creditOf(payer)).to.equal(STAKE);
  });

  it("does not get out on the last day, because the proposal holds the withdrawal back", async () => {
    const { staking, usdc, adjudicator, developer: thief, payer, tool } = await marketplace();
    await staking.connect(thief).requestWithdrawal(tool, STAKE);
    const readyAt = Number((await staking.tool(tool)).readyAt);
    await time.setNextBlockTimestamp(readyAt - 1);
    const terms = slashTerms({ refunds: [[payer, STAKE]] });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.setNextBlockTimestamp(readyAt);
    await expect(staking.connect(thief).withdraw(tool, thief))
      .to.be.revertedWithCustomError(staking, "WithdrawalFrozen")
      .withArgs(readyAt, readyAt - 1 + 7 * DAY);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    await expect(staking.connect(thief).withdraw(tool, thief)).to.changeTokenBalance(ethers, usdc, thief, 0n);
  });

  it("earns nothing while the stake is on its way out", async () => {
    const { router, staking, settle, developer: thief, payer, tool } = await marketplace();
    await staking.connect(thief).requestWithdrawal(tool, 1n);
    await expect(settle([{ payer, lines: [[tool, usd("1")]] }])).to.emit(router, "LinesRefused");
    expect(await router.creditOf(thief)).to.equal(0n);
  });

  it("does not shake off a proposal by cancelling, or by giving the tool away", async () => {
    const { staking, adjudicator, developer: thief, rival: accomplice, tool } = await marketplace();
    await staking.connect(thief).requestWithdrawal(tool, STAKE);
    const terms = slashTerms();
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await staking.connect(thief).cancelWithdrawal(tool);
    await staking.connect(thief).transferOwnership(tool, accomplice);
    await staking.connect(accomplice).acceptOwnership(tool);
    await staking.connect(accomplice).requestWithdrawal(tool, STAKE);
    await time.increase(3 * DAY);
    await expect(staking.connect(adjudicator).executeSlash(tool, terms)).to.emit(staking, "Slashed");
  });
});

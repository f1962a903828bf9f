import { expect } from "chai";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

// The trick: keep a request that ripened long ago, deposit anew, cheat, and run with the deposit at once.
async function ripened() {
  const market = await marketplace();
  const { staking, fundStake, developer, tool } = market;
  await staking.connect(developer).requestWithdrawal(tool, STAKE);
  await time.increase(100 * DAY);
  await fundStake(developer, usd("50"));
  await staking.connect(developer).stake(tool, usd("50"));
  return market;
}

describe("a developer with a ripe old request and a new deposit", () => {
  it("gets the old amount at once, and not a unit of the new one", async () => {
    const { staking, usdc, developer: thief, tool } = await ripened();
    await expect(staking.connect(thief).withdraw(tool, thief)).to.changeTokenBalance(ethers, usdc, thief, STAKE);
    expect((await staking.tool(tool)).stake).to.equal(usd("50"));
    await expect(staking.connect(thief).withdraw(tool, thief))
      .to.be.revertedWithCustomError(staking, "NoWithdrawal")
      .withArgs(tool);
  });

  it("waits seven days anew for the new deposit", async () => {
    const { staking, developer: thief, tool } = await ripened();
    await staking.connect(thief).withdraw(tool, thief);
    const requestedAt = (await time.latest()) + 10;
    await time.setNextBlockTimestamp(requestedAt);
    await staking.connect(thief).requestWithdrawal(tool, usd("50"));
    await time.setNextBlockTimestamp(requestedAt + 1);
    await expect(staking.connect(thief).withdraw(tool, thief))
      .to.be.revertedWithCustomError(staking, "WithdrawalNotReady")
      .withArgs(requestedAt + 1, requestedAt + 7 * DAY);
  });

  it("cannot make the old request larger", async () => {
    const { staking, developer: thief, tool } = await ripened();
    await expect(staking.connect(thief).requestWithdrawal(tool, usd("50"))).to.be.revertedWithCustomError(
      staking,
      "WithdrawalPending",
    );
  });

  it("does not carry the old request's age over into a new one by cancelling it", async () => {
    const { staking, developer: thief, tool } = await ripened();
    await staking.connect(thief).cancelWithdrawal(tool);
    const requestedAt = (await time.latest()) + 10;
    await time.setNextBlockTimestamp(requestedAt);
    await staking.connect(thief).requestWithdrawal(tool, usd("60"));
    expect((await staking.tool(tool)).readyAt).to.equal(requestedAt + 7 * DAY);
  });

  it("loses the new deposit to a slash before the old amount is touched, and both if need be", async () => {
    const { staking, adjudicator, developer: thief, tool } = await ripened();
    const terms = slashTerms({ amount: usd("55") });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    const { stake, withdrawing, owner } = await staking.tool(tool);
    expect([stake, withdrawing, owner]).to.deep.equal([0n, usd("5"), thief.address]);
  });
});

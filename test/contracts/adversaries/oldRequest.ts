import { expect } from "chai";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

// The trick: keep a request that ripened long ago, deposit again, cheat, and run with the deposit at once.
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

  it("waits seven days again for the new deposit", async () => {
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

  it("loses the new deposit to a slash, and makes no slash void by taking the old amount away", async () => {
    const { staking, adjudicator, developer: thief, payer: victim, tool } = await ripened();
    // What could leave at any moment is not counted, so no terms can be proposed that its leaving would break.
    await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: usd("50") + 1n })))
      .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
      .withArgs(usd("50") + 1n, usd("50"));
    const terms = slashTerms({ amount: usd("50"), refunds: [[victim, usd("50")]] });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await staking.connect(thief).withdraw(tool, thief);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    expect(await staking.creditOf(victim)).to.equal(usd("50"));
    expect((await staking.tool(tool)).stake).to.equal(0n);
  });

  it("makes old money slashable again by cancelling, and not by letting it lie", async () => {
    const { staking, adjudicator, developer: thief, tool } = await ripened();
    await staking.connect(thief).cancelWithdrawal(tool);
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: usd("60") }));
  });
});

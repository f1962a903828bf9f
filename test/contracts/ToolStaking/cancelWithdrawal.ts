import { expect } from "chai";
import { DAY, freshHash, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("ToolStaking.cancelWithdrawal", () => {
  it("makes the requested amount count as stake again", async () => {
    const { staking, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    await expect(staking.connect(developer).cancelWithdrawal(tool))
      .to.emit(staking, "WithdrawalCancelled")
      .withArgs(tool, usd("4"));
    const { stake, withdrawing, readyAt } = await staking.tool(tool);
    expect([stake, withdrawing, readyAt]).to.deep.equal([STAKE, 0n, 0n]);
    expect((await staking.earner(tool)).payee).to.equal(developer);
  });

  it("works for a request that is ready, too", async () => {
    const { staking, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    await time.increase(8 * DAY);
    await staking.connect(developer).cancelWithdrawal(tool);
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
  });

  it("ends a request of which a slash has left nothing, so that a new one can be made", async () => {
    const { staking, fundStake, adjudicator, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    const terms = slashTerms();
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    await expect(staking.connect(developer).cancelWithdrawal(tool))
      .to.emit(staking, "WithdrawalCancelled")
      .withArgs(tool, 0n);
    await fundStake(developer, 5n);
    await staking.connect(developer).stake(tool, 5n);
    await staking.connect(developer).requestWithdrawal(tool, 5n);
  });

  it("refuses when there is no request", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).cancelWithdrawal(tool))
      .to.be.revertedWithCustomError(staking, "NoWithdrawal")
      .withArgs(tool);
  });

  it("is the owner's alone", async () => {
    const { staking, developer, stranger, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, 1n);
    await expect(staking.connect(stranger).cancelWithdrawal(tool))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).cancelWithdrawal(unlisted))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });
});

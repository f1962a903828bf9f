import { expect } from "chai";
import { DAY, freshHash, marketplace, STAKE, time, usd } from "../fixture.ts";

describe("ToolStaking.requestWithdrawal", () => {
  it("takes the amount out of the stake and makes it ready in seven days", async () => {
    const { staking, developer, tool } = await marketplace();
    const requestedAt = (await time.latest()) + 10;
    await time.setNextBlockTimestamp(requestedAt);
    await expect(staking.connect(developer).requestWithdrawal(tool, usd("4")))
      .to.emit(staking, "WithdrawalRequested")
      .withArgs(tool, usd("4"), requestedAt + 7 * DAY);
    const { stake, withdrawing, readyAt } = await staking.tool(tool);
    expect(stake).to.equal(usd("6"));
    expect(withdrawing).to.equal(usd("4"));
    expect(readyAt).to.equal(requestedAt + 7 * DAY);
  });

  it("stops the tool from being paid as soon as the rest is too low", async () => {
    const { staking, fundStake, developer, tool } = await marketplace();
    await fundStake(developer, 1n);
    await staking.connect(developer).stake(tool, 1n);
    await staking.connect(developer).requestWithdrawal(tool, 1n);
    expect((await staking.earner(tool)).payee).to.equal(developer);
    await staking.connect(developer).cancelWithdrawal(tool);
    await staking.connect(developer).requestWithdrawal(tool, 2n);
    expect((await staking.earner(tool)).payee).not.to.equal(developer);
  });

  it("lets the whole stake be asked back", async () => {
    const { staking, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    expect((await staking.tool(tool)).stake).to.equal(0n);
  });

  it("refuses more than the stake", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).requestWithdrawal(tool, STAKE + 1n))
      .to.be.revertedWithCustomError(staking, "WithdrawalExceedsStake")
      .withArgs(STAKE + 1n, STAKE);
  });

  it("refuses a second request while the first is open", async () => {
    const { staking, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    const { readyAt } = await staking.tool(tool);
    await expect(staking.connect(developer).requestWithdrawal(tool, usd("1")))
      .to.be.revertedWithCustomError(staking, "WithdrawalPending")
      .withArgs(usd("4"), readyAt);
  });

  it("refuses a request for nothing", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).requestWithdrawal(tool, 0n)).to.be.revertedWithCustomError(
      staking,
      "ZeroAmount",
    );
  });

  it("is the owner's alone, also where a stranger gave the stake", async () => {
    const { staking, fundStake, developer, stranger, tool } = await marketplace();
    await fundStake(stranger, 5n);
    await staking.connect(stranger).stake(tool, 5n);
    await expect(staking.connect(stranger).requestWithdrawal(tool, 5n))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).requestWithdrawal(unlisted, 1n))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });
});

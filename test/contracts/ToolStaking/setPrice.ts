import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { freshHash, marketplace, PARAMETERS, PRICE, STAKE, usd } from "../fixture.ts";

describe("ToolStaking.setPrice", () => {
  it("lowers the price freely", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).setPrice(tool, 1n)).to.emit(staking, "PriceSet").withArgs(tool, 1n);
    expect((await staking.tool(tool)).price).to.equal(1n);
  });

  it("lowers the price even of a tool whose stake is too low, which fixes it in the end", async () => {
    const { staking, asAdmin, listTool, developer } = await marketplace();
    const tool = await listTool({ price: usd("1"), stake: usd("100") });
    await asAdmin(staking.setParameters.populateTransaction({ ...PARAMETERS, stakeMultiplier: 200 }));
    await staking.connect(developer).setPrice(tool, usd("0.8"));
    expect((await staking.earner(tool)).payee).to.equal(ZeroAddress);
    await staking.connect(developer).setPrice(tool, usd("0.5"));
    expect((await staking.earner(tool)).payee).to.equal(developer);
  });

  it("raises the price as far as the stake carries", async () => {
    const { staking, fundStake, developer, tool } = await marketplace();
    await fundStake(developer, usd("5"));
    await staking.connect(developer).stake(tool, usd("5"));
    await staking.connect(developer).setPrice(tool, usd("0.15"));
    expect((await staking.tool(tool)).price).to.equal(usd("0.15"));
  });

  it("refuses a higher price whose stake is not there", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).setPrice(tool, PRICE + 1n))
      .to.be.revertedWithCustomError(staking, "StakeTooLow")
      .withArgs(STAKE, STAKE + 100n);
  });

  it("does not count a stake that was asked back", async () => {
    const { staking, fundStake, developer, tool } = await marketplace();
    await fundStake(developer, usd("5"));
    await staking.connect(developer).stake(tool, usd("5"));
    await staking.connect(developer).requestWithdrawal(tool, usd("5"));
    await expect(staking.connect(developer).setPrice(tool, usd("0.15")))
      .to.be.revertedWithCustomError(staking, "StakeTooLow")
      .withArgs(STAKE, usd("15"));
  });

  it("is the owner's alone", async () => {
    const { staking, developer, stranger, tool } = await marketplace();
    await expect(staking.connect(stranger).setPrice(tool, 1n))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).setPrice(unlisted, 1n))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });
});

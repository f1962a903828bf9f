import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { ToolStaking__factory } from "../../../typechain-types/index.ts";
import { DAY, marketplace, usd } from "../fixture.ts";

describe("ToolStaking's constructor", () => {
  it("begins with the protocol's numbers", async () => {
    const { staking, usdc, insurance, manager } = await marketplace();
    expect(await staking.usdc()).to.equal(usdc);
    expect(await staking.insurance()).to.equal(insurance);
    expect(await staking.authority()).to.equal(manager);
    expect(await staking.parameters()).to.deep.equal([usd("10"), 100n, 1000n, usd("5"), 2500n, 100n]);
    expect(await staking.WITHDRAWAL_DELAY()).to.equal(7 * DAY);
    expect(await staking.SLASH_DELAY()).to.equal(3 * DAY);
    expect(await staking.SLASH_WINDOW()).to.equal(4 * DAY);
    expect(await staking.VETO_COOLDOWN()).to.equal(8 * DAY);
    expect(await staking.MAX_FREEZE()).to.equal(14 * DAY);
    expect(await staking.MAX_REFUNDS()).to.equal(200n);
  });

  it("refuses to have no insurance account", async () => {
    const { deployer, staking, manager, usdc } = await marketplace();
    await expect(new ToolStaking__factory(deployer).deploy(manager, usdc, ZeroAddress))
      .to.be.revertedWithCustomError(staking, "InvalidBeneficiary")
      .withArgs(ZeroAddress);
  });
});

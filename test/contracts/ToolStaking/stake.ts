import { expect } from "chai";
import { MaxUint256 } from "ethers";
import { ethers, freshHash, marketplace, STAKE, usd } from "../fixture.ts";

const PANIC_OVERFLOW = 0x11;

describe("ToolStaking.stake", () => {
  it("adds to the stake, whoever gives it", async () => {
    const { staking, usdc, fundStake, stranger, tool } = await marketplace();
    await fundStake(stranger, usd("5"));
    const deposit = staking.connect(stranger).stake(tool, usd("5"));
    await expect(deposit).to.emit(staking, "Staked").withArgs(tool, stranger, usd("5"), usd("15"));
    await expect(deposit).to.changeTokenBalances(ethers, usdc, [stranger, staking], [-usd("5"), usd("5")]);
    expect((await staking.tool(tool)).stake).to.equal(usd("15"));
  });

  it("makes an under-staked tool payable again", async () => {
    const { staking, fundStake, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    await fundStake(developer, STAKE);
    await staking.connect(developer).stake(tool, STAKE - 1n);
    expect((await staking.earner(tool)).payee).not.to.equal(developer);
    await staking.connect(developer).stake(tool, 1n);
    expect((await staking.earner(tool)).payee).to.equal(developer);
  });

  it("refuses nothing as a stake", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).stake(tool, 0n)).to.be.revertedWithCustomError(staking, "ZeroAmount");
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).stake(unlisted, 1n))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });

  it("refuses what a listing has no room for, instead of cutting it", async () => {
    const { staking, developer, tool } = await marketplace();
    const room = 2n ** 48n - STAKE;
    await expect(staking.connect(developer).stake(tool, room))
      .to.be.revertedWithCustomError(staking, "SafeCastOverflowedUintDowncast")
      .withArgs(48, 2n ** 48n);
    await expect(staking.connect(developer).stake(tool, MaxUint256)).to.be.revertedWithPanic(PANIC_OVERFLOW);
  });

  it("adds nothing when the token refuses", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).stake(tool, 1n)).to.be.revertedWith(
      "ERC20: transfer amount exceeds allowance",
    );
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
  });
});

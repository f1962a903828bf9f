import { expect } from "chai";
import { MaxUint256, ZeroHash } from "ethers";
import { FUNDS, freshHash, marketplace, usd } from "../fixture.ts";

const PANIC_OVERFLOW = 0x11;

describe("ContextRouter.pay", () => {
  it("takes amount and model cost from the caller in one transfer", async () => {
    const { router, usdc, payer, tool } = await marketplace();
    const payment = router.connect(payer).pay(tool, usd("2"), usd("0.5"));
    await expect(payment).to.emit(usdc, "Transfer").withArgs(payer, router, usd("2.5"));
    await expect(payment).to.emit(router, "Paid").withArgs(payer, tool, usd("2"), usd("0.5"));
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("2.5"));
  });

  it("splits the amount, and leaves the model cost whole", async () => {
    const { router, payer, developer, treasury, tool } = await marketplace();
    await expect(router.connect(payer).pay(tool, usd("2"), usd("0.5")))
      .to.emit(router, "ToolPaid")
      .withArgs(ZeroHash, tool, developer, usd("2"), usd("1.8"));
    expect(await router.creditOf(developer)).to.equal(usd("1.8"));
    expect(await router.creditOf(treasury)).to.equal(usd("0.7"));
  });

  it("refuses to pay a tool nothing", async () => {
    const { router, payer, tool } = await marketplace();
    await expect(router.connect(payer).pay(tool, 0n, 1n)).to.be.revertedWithCustomError(router, "ZeroAmount");
  });

  it("refuses a tool that is not listed", async () => {
    const { router, staking, payer, stranger } = await marketplace();
    const unlisted = await staking.toolIdOf(stranger, freshHash());
    await expect(router.connect(payer).pay(unlisted, 1n, 0n))
      .to.be.revertedWithCustomError(router, "ToolNotPayable")
      .withArgs(unlisted);
  });

  it("refuses a tool whose stake is too low", async () => {
    const { router, staking, payer, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, 1n);
    await expect(router.connect(payer).pay(tool, 1n, 0n))
      .to.be.revertedWithCustomError(router, "ToolNotPayable")
      .withArgs(tool);
  });

  it("counts towards the daily cap and stops at it", async () => {
    const { router, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("3"));
    await router.connect(payer).pay(tool, usd("2"), usd("0.5"));
    await expect(router.connect(payer).pay(tool, usd("0.4"), usd("0.100001")))
      .to.be.revertedWithCustomError(router, "DailyCapExceeded")
      .withArgs(usd("0.500001"), usd("0.5"));
    await router.connect(payer).pay(tool, usd("0.4"), usd("0.1"));
    expect((await router.dailyCap(payer)).left).to.equal(0n);
  });

  it("is undone when the token refuses", async () => {
    const { router, payer, developer, tool } = await marketplace();
    await expect(router.connect(payer).pay(tool, 1n, FUNDS)).to.be.revertedWith(
      "ERC20: transfer amount exceeds allowance",
    );
    expect(await router.creditOf(developer)).to.equal(0n);
  });

  it("does not wrap around when amount and model cost are enormous", async () => {
    const { router, payer, tool } = await marketplace();
    await expect(router.connect(payer).pay(tool, 1n, MaxUint256)).to.be.revertedWithPanic(PANIC_OVERFLOW);
  });

  it("waits while the router is paused", async () => {
    const { router, guardian, payer, tool } = await marketplace();
    await router.connect(guardian).pause();
    await expect(router.connect(payer).pay(tool, 1n, 0n)).to.be.revertedWithCustomError(router, "EnforcedPause");
  });
});

import { expect } from "chai";
import { marketplace, usd } from "../fixture.ts";

describe("ContextRouter.pause", () => {
  it("stops settling and paying", async () => {
    const { router, settle, guardian, payer, tool } = await marketplace();
    await expect(router.connect(guardian).pause()).to.emit(router, "Paused").withArgs(guardian);
    await expect(settle([{ payer, lines: [[tool, 1n]] }])).to.be.revertedWithCustomError(router, "EnforcedPause");
    await expect(router.connect(payer).pay(tool, 1n, 0n)).to.be.revertedWithCustomError(router, "EnforcedPause");
  });

  it("does not stop claims, payouts or a payer's cap", async () => {
    const { router, usdc, settle, guardian, developer, treasury, payer, stranger, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    await router.connect(guardian).pause();
    await router.connect(developer).claimTo(stranger);
    await router.connect(stranger).payout([treasury]);
    await router.connect(payer).setDailyCap(1n);
    expect(await usdc.balanceOf(stranger)).to.equal(usd("9"));
    expect(await usdc.balanceOf(treasury)).to.equal(usd("1"));
  });

  it("cannot be done twice", async () => {
    const { router, guardian } = await marketplace();
    await router.connect(guardian).pause();
    await expect(router.connect(guardian).pause()).to.be.revertedWithCustomError(router, "EnforcedPause");
  });
});

describe("ContextRouter.unpause", () => {
  it("lets settling and paying go on", async () => {
    const { router, settle, guardian, payer, tool } = await marketplace();
    await router.connect(guardian).pause();
    await expect(router.connect(guardian).unpause()).to.emit(router, "Unpaused").withArgs(guardian);
    await settle([{ payer, lines: [[tool, 1n]] }]);
    await router.connect(payer).pay(tool, 1n, 0n);
  });

  it("needs a pause", async () => {
    const { router, guardian } = await marketplace();
    await expect(router.connect(guardian).unpause()).to.be.revertedWithCustomError(router, "ExpectedPause");
  });
});

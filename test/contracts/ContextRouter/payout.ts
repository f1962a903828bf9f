import { expect } from "chai";
import { ethers, marketplace, usd } from "../fixture.ts";

describe("ContextRouter.payout", () => {
  it("lets anybody push many credits to their accounts", async () => {
    const { router, usdc, settle, developer, treasury, stranger, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    expect(await router.payout.staticCall([developer, treasury])).to.equal(usd("10"));
    const payout = router.connect(stranger).payout([developer, treasury]);
    await expect(payout).to.emit(router, "Claimed").withArgs(developer, developer, usd("9"));
    await expect(payout).to.emit(router, "Claimed").withArgs(treasury, treasury, usd("1"));
    await expect(payout).to.changeTokenBalances(
      ethers,
      usdc,
      [router, developer, treasury, stranger],
      [-usd("10"), usd("9"), usd("1"), 0n],
    );
  });

  it("passes over an account without credit, and one that is named twice", async () => {
    const { router, usdc, settle, developer, stranger, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    await router.payout([stranger, developer, developer]);
    expect(await usdc.balanceOf(developer)).to.equal(usd("9"));
    expect(await usdc.balanceOf(stranger)).to.equal(0n);
  });

  it("reports an account that the token refuses, leaves its credit and pays the others", async () => {
    const { router, usdc, settle, developer, treasury, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    await usdc.blacklist(developer);
    const payout = router.payout([developer, treasury]);
    await expect(payout).to.emit(router, "PayoutFailed").withArgs(developer, usd("9"));
    await expect(payout).to.emit(router, "Claimed").withArgs(treasury, treasury, usd("1"));
    expect(await router.creditOf(developer)).to.equal(usd("9"));
  });

  it("has no credit of the router itself to send, because no tool can pay it", async () => {
    const { router, staking, listTool } = await marketplace();
    await expect(listTool({ payout: { address: await router.getAddress() } }))
      .to.be.revertedWithCustomError(staking, "InvalidPayout")
      .withArgs(router);
    expect(await router.creditOf(router)).to.equal(0n);
  });

  it("does nothing for an empty list", async () => {
    const { router } = await marketplace();
    expect(await router.payout.staticCall([])).to.equal(0n);
  });
});

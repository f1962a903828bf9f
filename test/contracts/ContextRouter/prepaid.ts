import { expect } from "chai";
import { MaxUint256 } from "ethers";
import { DAY, ethers, FAILURE, FUNDS, freshHash, marketplace, time, usd } from "../fixture.ts";

describe("a prepaid balance", () => {
  it("pays without a transfer, whatever its payer has revoked or moved on", async () => {
    const { router, usdc, settle, developer, stranger, payer, tool } = await marketplace();
    await expect(router.connect(payer).deposit(usd("10")))
      .to.emit(router, "Deposited")
      .withArgs(payer, usd("10"), usd("10"));
    await usdc.connect(payer).approve(router, 0n);
    await usdc.connect(payer).transfer(stranger, FUNDS - usd("10"));
    await expect(settle([{ payer, prepaid: true, lines: [[tool, usd("4")]] }])).not.to.emit(usdc, "Transfer");
    expect(await router.creditOf(developer)).to.equal(usd("3.6"));
    expect((await router.prepaidOf(payer)).balance).to.equal(usd("6"));
    expect((await router.spendable(payer)).prepaid).to.equal(usd("6"));
  });

  it("fails a row above it with a reason of its own, and never touches the allowance", async () => {
    const { router, usdc, settle, payer, tool } = await marketplace();
    await router.connect(payer).deposit(usd("1"));
    const batchId = freshHash();
    await expect(settle([{ payer, prepaid: true, lines: [[tool, usd("1") + 1n]] }], { batchId }))
      .to.emit(router, "ChargeFailed")
      .withArgs(batchId, payer, 0, usd("1") + 1n, FAILURE.prepaid);
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
  });

  it("is under the payer's daily cap like everything else", async () => {
    const { router, settle, payer, tool } = await marketplace();
    await router.connect(payer).deposit(usd("10"));
    await router.connect(payer).setDailyCap(usd("3"));
    const batchId = freshHash();
    await settle([{ payer, prepaid: true, lines: [[tool, usd("2")]] }]);
    await expect(settle([{ payer, prepaid: true, lines: [[tool, usd("2")]] }], { batchId }))
      .to.emit(router, "ChargeFailed")
      .withArgs(batchId, payer, 0, usd("2"), FAILURE.dailyCap);
  });

  it("is refunded after the delay, less what was drawn meanwhile", async () => {
    const { router, usdc, settle, stranger, payer, tool } = await marketplace();
    await router.connect(payer).deposit(usd("10"));
    await router.connect(payer).requestRefund(usd("9"));
    expect((await router.spendable(payer)).prepaid).to.equal(usd("1"));
    await settle([{ payer, prepaid: true, lines: [[tool, usd("4")]] }]);
    await expect(router.connect(payer).refund(payer)).to.be.revertedWithCustomError(router, "RefundNotReady");
    await time.increase(2 * DAY);
    await expect(router.connect(payer).refund(stranger))
      .to.emit(router, "PrepaidRefunded")
      .withArgs(payer, stranger, usd("6"));
    expect(await usdc.balanceOf(stranger)).to.equal(usd("6"));
    expect((await router.prepaidOf(payer)).balance).to.equal(0n);
    await expect(router.connect(payer).refund(payer)).to.be.revertedWithCustomError(router, "NoRefund");
  });

  it("cannot be asked back beyond what there is, and a request can be taken back", async () => {
    const { router, payer } = await marketplace();
    await router.connect(payer).deposit(usd("2"));
    await expect(router.connect(payer).requestRefund(usd("2") + 1n))
      .to.be.revertedWithCustomError(router, "RefundExceedsBalance")
      .withArgs(usd("2") + 1n, usd("2"));
    await router.connect(payer).requestRefund(usd("2"));
    await router.connect(payer).requestRefund(0n);
    expect((await router.spendable(payer)).prepaid).to.equal(usd("2"));
    await expect(router.connect(payer).refund(payer)).to.be.revertedWithCustomError(router, "NoRefund");
  });

  it("is never sent to the router, refunded while it is paused, and not added to then", async () => {
    const { router, guardian, payer } = await marketplace();
    await router.connect(payer).deposit(usd("2"));
    await router.connect(payer).requestRefund(usd("2"));
    await time.increase(2 * DAY);
    await router.connect(guardian).pause();
    await expect(router.connect(payer).deposit(1n)).to.be.revertedWithCustomError(router, "EnforcedPause");
    await expect(router.connect(payer).refund(router)).to.be.revertedWithCustomError(router, "InvalidRecipient");
    await router.connect(payer).refund(payer);
  });

  // The threat model says so: to the payer a cap is worth more if it holds for all of its money at once.
  it("is held back by a cap or a demand for consent that come after the call, and then goes back to its payer", async () => {
    for (const reason of ["dailyCap", "consentRequired"] as const) {
      const { router, usdc, settle, payer, tool } = await marketplace();
      const asPayer = router.connect(payer);
      await asPayer.deposit(usd("5"));
      await (reason === "dailyCap" ? asPayer.setDailyCap(1n) : asPayer.setConsentRequired(true));
      await asPayer.requestRefund(usd("5"));
      const batchId = freshHash();
      await expect(settle([{ payer, prepaid: true, lines: [[tool, usd("5")]] }], { batchId }))
        .to.emit(router, "ChargeFailed")
        .withArgs(batchId, payer, 0n, usd("5"), FAILURE[reason]);
      await time.increase(2 * DAY);
      await expect(asPayer.refund(payer)).to.changeTokenBalance(ethers, usdc, payer, usd("5"));
    }
  });

  it("of a payer whom the token has blacklisted pays what was delivered, and the rest is sent elsewhere", async () => {
    const { router, usdc, settle, payer, stranger, tool } = await marketplace();
    await router.connect(payer).deposit(usd("5"));
    await router.connect(payer).requestRefund(usd("5"));
    await usdc.blacklist(payer);
    await settle([{ payer, prepaid: true, lines: [[tool, usd("2")]] }]);
    await time.increase(2 * DAY);
    await expect(router.connect(payer).refund(payer)).to.be.revertedWith("Blacklistable: account is blacklisted");
    await expect(router.connect(payer).refund(stranger)).to.changeTokenBalance(ethers, usdc, stranger, usd("3"));
  });

  it("takes a permit, which somebody else may have used first", async () => {
    const { router, usdc, signPermit, stranger, neighbour: payer } = await marketplace();
    await usdc.mint(payer, usd("5"));
    const permit = await signPermit(payer, usd("5"));
    const [, , amount, deadline, v, r, s] = permit;
    await usdc.connect(stranger).permit(...permit);
    await router.connect(payer).depositWithPermit(amount, deadline, v, r, s);
    expect((await router.prepaidOf(payer)).balance).to.equal(usd("5"));
  });

  it("takes an authorization in one transaction, which anybody may send", async () => {
    const { router, usdc, stranger, payer } = await marketplace();
    const { chainId } = await ethers.provider.getNetwork();
    const [to, nonce] = [await router.getAddress(), freshHash()];
    const types = {
      ReceiveWithAuthorization: [
        { name: "from", type: "address" },
        { name: "to", type: "address" },
        { name: "value", type: "uint256" },
        { name: "validAfter", type: "uint256" },
        { name: "validBefore", type: "uint256" },
        { name: "nonce", type: "bytes32" },
      ],
    };
    const domain = { name: "USD Coin", version: "2", chainId, verifyingContract: await usdc.getAddress() };
    const message = { from: payer.address, to, value: usd("3"), validAfter: 0n, validBefore: MaxUint256, nonce };
    const signature = await payer.signTypedData(domain, types, message);
    await router.connect(stranger).depositWithAuthorization(payer, usd("3"), 0n, MaxUint256, nonce, signature);
    expect((await router.prepaidOf(payer)).balance).to.equal(usd("3"));
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("3"));
  });

  it("begins with something", async () => {
    const { router, payer } = await marketplace();
    await expect(router.connect(payer).deposit(0n)).to.be.revertedWithCustomError(router, "ZeroAmount");
  });
});

import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { ethers, marketplace, usd } from "../fixture.ts";

async function earned() {
  const market = await marketplace();
  await market.settle([{ payer: market.payer, lines: [[market.tool, usd("10")]] }]);
  return market;
}

describe("ContextRouter.claim", () => {
  it("sends the caller's whole credit to the caller, and no one else's", async () => {
    const { router, usdc, developer, treasury } = await earned();
    const claim = router.connect(developer).claim();
    await expect(claim).to.emit(router, "Claimed").withArgs(developer, developer, usd("9"));
    await expect(claim).to.changeTokenBalances(ethers, usdc, [router, developer], [-usd("9"), usd("9")]);
    expect(await router.creditOf(developer)).to.equal(0n);
    expect(await router.creditOf(treasury)).to.equal(usd("1"));
  });

  it("refuses an account without credit", async () => {
    const { router, stranger } = await earned();
    await expect(router.connect(stranger).claim())
      .to.be.revertedWithCustomError(router, "NothingToClaim")
      .withArgs(stranger);
  });
});

describe("ContextRouter.claimTo", () => {
  it("sends the caller's whole credit to another address", async () => {
    const { router, usdc, developer, stranger } = await earned();
    const claim = router.connect(developer).claimTo(stranger);
    await expect(claim).to.emit(router, "Claimed").withArgs(developer, stranger, usd("9"));
    await expect(claim).to.changeTokenBalances(ethers, usdc, [developer, stranger], [0n, usd("9")]);
  });

  it("refuses the router itself, where the money would be lost", async () => {
    const { router, developer } = await earned();
    await expect(router.connect(developer).claimTo(router))
      .to.be.revertedWithCustomError(router, "InvalidRecipient")
      .withArgs(router);
  });

  it("keeps the credit when the token refuses the recipient", async () => {
    const { router, usdc, developer } = await earned();
    for (const recipient of [ZeroAddress, await usdc.getAddress()]) {
      await expect(router.connect(developer).claimTo(recipient)).to.revert(ethers);
    }
    expect(await router.creditOf(developer)).to.equal(usd("9"));
  });
});

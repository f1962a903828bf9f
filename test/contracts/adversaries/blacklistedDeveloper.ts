import { expect } from "chai";
import { ethers, marketplace, usd } from "../fixture.ts";

describe("a developer whom the token has blacklisted", () => {
  it("does not stop the batches that pay it, nor the payout of anybody else", async () => {
    const { router, usdc, settle, listTool, developer: blocked, rival, treasury, payer, tool } = await marketplace();
    const other = await listTool({ owner: rival });
    await usdc.blacklist(blocked);
    await settle([
      {
        payer,
        lines: [
          [tool, usd("10")],
          [other, usd("10")],
        ],
      },
    ]);
    const payout = router.payout([blocked, rival, treasury]);
    await expect(payout).to.emit(router, "PayoutFailed").withArgs(blocked, usd("9"));
    await expect(payout).to.changeTokenBalances(ethers, usdc, [blocked, rival, treasury], [0n, usd("9"), usd("2")]);
  });

  it("keeps its credit and can have it sent elsewhere", async () => {
    const { router, usdc, settle, developer: blocked, stranger, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    await usdc.blacklist(blocked);
    await router.payout([blocked]);
    await expect(router.connect(blocked).claim()).to.be.revertedWith("Blacklistable: account is blacklisted");
    await expect(router.connect(blocked).claimTo(stranger)).to.changeTokenBalance(ethers, usdc, stranger, usd("9"));
  });
});

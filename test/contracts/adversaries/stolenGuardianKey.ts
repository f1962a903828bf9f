import { expect } from "chai";
import { ROLES } from "../../../scripts/protocol/description.ts";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("a thief with the guardian's key", () => {
  it("can stop settlements, but claims, payouts and withdrawals go on", async () => {
    const { router, staking, usdc, settle, guardian: thief, developer, treasury, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("10")]] }]);
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    await router.connect(thief).pause();
    await time.increase(7 * DAY);
    await expect(router.connect(developer).claim()).to.changeTokenBalance(ethers, usdc, developer, usd("9"));
    await expect(router.payout([treasury])).to.changeTokenBalance(ethers, usdc, treasury, usd("1"));
    await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
      ethers,
      usdc,
      developer,
      STAKE,
    );
  });

  it("can veto slashes, but take and give nothing", async () => {
    const { router, staking, veto, guardian: thief, adjudicator, tool } = await marketplace();
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms());
    await veto(tool, { by: thief });
    await expect(staking.connect(thief).proposeSlash(tool, slashTerms()))
      .to.be.revertedWithCustomError(staking, "AccessManagedUnauthorized")
      .withArgs(thief);
    await expect(router.connect(thief).setOperatorLimit(thief, 1n))
      .to.be.revertedWithCustomError(router, "AccessManagedUnauthorized")
      .withArgs(thief);
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
  });

  it("is out eight days after the admin has decided so, and the settlements go on", async () => {
    const { manager, router, asAdmin, settle, guardian: thief, stranger: successor, payer, tool } = await marketplace();
    await router.connect(thief).pause();
    await asAdmin(manager.revokeRole.populateTransaction(ROLES.guardian, thief));
    await asAdmin(manager.grantRole.populateTransaction(ROLES.guardian, successor, 0));
    await router.connect(successor).unpause();
    await settle([{ payer, lines: [[tool, usd("1")]] }]);
    await expect(router.connect(thief).pause())
      .to.be.revertedWithCustomError(router, "AccessManagedUnauthorized")
      .withArgs(thief);
  });
});

import { expect } from "chai";
import { ADMIN_DELAY_SECONDS, ROLES } from "../../../scripts/protocol/description.ts";
import { DAY, ethers, marketplace, STAKE, slashTerms, time } from "../fixture.ts";

describe("a thief with the admin's key", () => {
  it("cannot name an adjudicator of its own before a developer who sees it announced is out", async () => {
    const { manager, staking, usdc, admin: thief, developer, stranger: accomplice, tool } = await marketplace();
    const grant = manager.interface.encodeFunctionData("grantRole", [ROLES.adjudicator, accomplice.address, 0]);
    await manager.connect(thief).schedule(manager, grant, 0);
    const announcedAt = await time.latest();

    await time.setNextBlockTimestamp(announcedAt + DAY - 1);
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    await time.setNextBlockTimestamp(announcedAt + 8 * DAY - 1);
    await expect(manager.connect(thief).execute(manager, grant)).to.be.revertedWithCustomError(
      manager,
      "AccessManagerNotReady",
    );
    await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
      ethers,
      usdc,
      developer,
      STAKE,
    );

    await time.increaseTo(announcedAt + ADMIN_DELAY_SECONDS);
    await manager.connect(thief).execute(manager, grant);
    await expect(staking.connect(accomplice).proposeSlash(tool, slashTerms({ amount: 1n })))
      .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
      .withArgs(1n, 0n);
  });
});

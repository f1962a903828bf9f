// withdraw
// ├── when the tool is not listed: ToolNotListed
// ├── when the caller does not own it: NotOwner
// └── when the owner calls
//     ├── and names the registry as recipient: InvalidRecipient
//     ├── and there is no request
//     │   ├── while no slash is proposed: NoWithdrawal
//     │   └── while a slash is proposed: NoWithdrawal
//     └── and there is a request
//         ├── that is not ready by one second: WithdrawalNotReady
//         └── that is ready
//             ├── while no slash is proposed: pays what was requested, to whomever the owner names
//             ├── while a slash is proposed
//             │   ├── that expires within the longest freeze: WithdrawalFrozen until it expires, then pays
//             │   └── that expires after the longest freeze: WithdrawalFrozen until the freeze ends, then pays
//             ├── after a slash was dropped: pays
//             ├── after a slash took a part: pays the rest
//             ├── after a slash took all: pays nothing, and clears the request
//             └── when the token refuses the recipient: the request stands
import { expect } from "chai";
import { DAY, ethers, freshHash, type Marketplace, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

async function requested(amount = STAKE) {
  const market = await marketplace();
  await market.staking.connect(market.developer).requestWithdrawal(market.tool, amount);
  const { readyAt } = await market.staking.tool(market.tool);
  return { ...market, readyAt: Number(readyAt) };
}

async function proposeAt(timestamp: number, { staking, adjudicator, tool }: Marketplace) {
  await time.setNextBlockTimestamp(timestamp);
  const terms = slashTerms({ amount: usd("4") });
  await staking.connect(adjudicator).proposeSlash(tool, terms);
  return terms;
}

describe("ToolStaking.withdraw", () => {
  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).withdraw(unlisted, developer))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });

  it("is the owner's alone", async () => {
    const { staking, developer, stranger, tool } = await requested();
    await expect(staking.connect(stranger).withdraw(tool, stranger))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses the registry as recipient, where the money would be lost", async () => {
    const { staking, developer, tool } = await requested();
    await expect(staking.connect(developer).withdraw(tool, staking))
      .to.be.revertedWithCustomError(staking, "InvalidRecipient")
      .withArgs(staking);
  });

  describe("without a request", () => {
    it("refuses", async () => {
      const { staking, developer, tool } = await marketplace();
      await expect(staking.connect(developer).withdraw(tool, developer))
        .to.be.revertedWithCustomError(staking, "NoWithdrawal")
        .withArgs(tool);
    });

    it("refuses for the same reason while a slash is proposed", async () => {
      const market = await marketplace();
      const { staking, developer, tool } = market;
      await proposeAt((await time.latest()) + 10, market);
      await expect(staking.connect(developer).withdraw(tool, developer))
        .to.be.revertedWithCustomError(staking, "NoWithdrawal")
        .withArgs(tool);
    });
  });

  it("refuses a request that is not ready by one second", async () => {
    const { staking, developer, tool, readyAt } = await requested();
    await time.setNextBlockTimestamp(readyAt - 1);
    await expect(staking.connect(developer).withdraw(tool, developer))
      .to.be.revertedWithCustomError(staking, "WithdrawalNotReady")
      .withArgs(readyAt - 1, readyAt);
  });

  describe("with a request that is ready", () => {
    it("pays what was requested, to whomever the owner names", async () => {
      const { staking, usdc, developer, stranger, tool, readyAt } = await requested(usd("4"));
      await time.setNextBlockTimestamp(readyAt);
      const withdrawal = staking.connect(developer).withdraw(tool, stranger);
      await expect(withdrawal).to.emit(staking, "Withdrawn").withArgs(tool, stranger, usd("4"));
      await expect(withdrawal).to.changeTokenBalances(ethers, usdc, [staking, stranger], [-usd("4"), usd("4")]);
      const listing = await staking.tool(tool);
      expect([listing.stake, listing.withdrawing, listing.readyAt]).to.deep.equal([usd("6"), 0n, 0n]);
    });

    it("waits until a proposed slash expires, if that comes before the end of the longest freeze", async () => {
      const market = await requested();
      const { staking, usdc, developer, tool, readyAt } = market;
      const expiresAt = readyAt - 1 + 7 * DAY;
      await proposeAt(readyAt - 1, market);
      await time.setNextBlockTimestamp(expiresAt - 1);
      await expect(staking.connect(developer).withdraw(tool, developer))
        .to.be.revertedWithCustomError(staking, "WithdrawalFrozen")
        .withArgs(expiresAt - 1, expiresAt);
      await time.setNextBlockTimestamp(expiresAt);
      await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
        ethers,
        usdc,
        developer,
        STAKE,
      );
    });

    it("waits no longer than the longest freeze, if the slash expires after it", async () => {
      const market = await requested();
      const { staking, usdc, developer, tool, readyAt } = market;
      const thawsAt = readyAt + 14 * DAY;
      await proposeAt(thawsAt - 4 * DAY, market);
      await time.setNextBlockTimestamp(thawsAt - 1);
      await expect(staking.connect(developer).withdraw(tool, developer))
        .to.be.revertedWithCustomError(staking, "WithdrawalFrozen")
        .withArgs(thawsAt - 1, thawsAt);
      await time.setNextBlockTimestamp(thawsAt);
      await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
        ethers,
        usdc,
        developer,
        STAKE,
      );
    });

    it("pays as soon as the slash is dropped", async () => {
      const market = await requested();
      const { staking, usdc, adjudicator, developer, tool, readyAt } = market;
      await proposeAt(readyAt, market);
      await staking.connect(adjudicator).dismissSlash(tool);
      await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
        ethers,
        usdc,
        developer,
        STAKE,
      );
    });

    it("pays the rest when a slash took a part", async () => {
      const market = await requested();
      const { staking, usdc, adjudicator, developer, tool, readyAt } = market;
      const terms = await proposeAt(readyAt, market);
      await time.increase(3 * DAY);
      await staking.connect(adjudicator).executeSlash(tool, terms);
      await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
        ethers,
        usdc,
        developer,
        usd("6"),
      );
    });

    it("pays nothing when a slash took all, and clears the request", async () => {
      const { staking, adjudicator, developer, tool } = await requested();
      const terms = slashTerms({ amount: STAKE });
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.increase(4 * DAY);
      await staking.connect(adjudicator).executeSlash(tool, terms);
      await time.increase(3 * DAY);
      await expect(staking.connect(developer).withdraw(tool, developer))
        .to.emit(staking, "Withdrawn")
        .withArgs(tool, developer, 0n);
      expect((await staking.tool(tool)).readyAt).to.equal(0n);
    });

    it("keeps the request when the token refuses the recipient", async () => {
      const { staking, usdc, developer, stranger, tool, readyAt } = await requested();
      await usdc.blacklist(developer);
      await time.increaseTo(readyAt);
      await expect(staking.connect(developer).withdraw(tool, developer)).to.be.revertedWith(
        "Blacklistable: account is blacklisted",
      );
      await expect(staking.connect(developer).withdraw(tool, stranger)).to.changeTokenBalance(
        ethers,
        usdc,
        stranger,
        STAKE,
      );
    });
  });
});

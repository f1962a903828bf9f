import { expect } from "chai";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

async function slashed() {
  const market = await marketplace();
  const { staking, listTool, adjudicator, reporter, payer, rival, tool } = market;
  // Another tool's stake lies in the same contract and must not be touched by any claim.
  await listTool({ owner: rival });
  const terms = slashTerms({ reporter, refunds: [[payer, usd("5")]] });
  await staking.connect(adjudicator).proposeSlash(tool, terms);
  await time.increase(3 * DAY);
  await staking.connect(adjudicator).executeSlash(tool, terms);
  return market;
}

describe("ToolStaking.claim", () => {
  it("sends refund and bounty to those who come for them, and leaves the stakes alone", async () => {
    const { staking, usdc, payer, reporter, insurance } = await slashed();
    for (const [account, amount] of [
      [payer, usd("5")],
      [reporter, usd("1")],
      [insurance, usd("4")],
    ] as const) {
      const claim = staking.connect(account).claim();
      await expect(claim).to.emit(staking, "Claimed").withArgs(account, account, amount);
      await expect(claim).to.changeTokenBalance(ethers, usdc, account, amount);
    }
    expect(await usdc.balanceOf(staking)).to.equal(STAKE);
  });

  it("refuses a developer whose stake is not credited to anybody", async () => {
    const { staking, rival } = await slashed();
    await expect(staking.connect(rival).claim())
      .to.be.revertedWithCustomError(staking, "NothingToClaim")
      .withArgs(rival);
  });

  it("sends a credit elsewhere when asked to, but never to the registry itself", async () => {
    const { staking, usdc, payer, stranger } = await slashed();
    await expect(staking.connect(payer).claimTo(staking))
      .to.be.revertedWithCustomError(staking, "InvalidRecipient")
      .withArgs(staking);
    await expect(staking.connect(payer).claimTo(stranger)).to.changeTokenBalance(ethers, usdc, stranger, usd("5"));
  });
});

describe("ToolStaking.payout", () => {
  it("pushes many credits, whoever asks for it", async () => {
    const { staking, usdc, payer, reporter, insurance, stranger } = await slashed();
    await usdc.blacklist(reporter);
    const payout = staking.connect(stranger).payout([payer, reporter, insurance, stranger]);
    await expect(payout).to.emit(staking, "PayoutFailed").withArgs(reporter, usd("1"));
    await expect(payout).to.changeTokenBalances(
      ethers,
      usdc,
      [staking, payer, insurance],
      [-usd("9"), usd("5"), usd("4")],
    );
  });
});

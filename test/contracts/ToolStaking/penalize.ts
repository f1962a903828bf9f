import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { ROLES } from "../../../scripts/protocol/description.ts";
import { DAY, ethers, HOUR, marketplace, nextPeriod, PARAMETERS, STAKE, slashTerms, time, usd } from "../fixture.ts";

// A court that the admin has named. What it has proven is its own affair; here it asks for money.
async function court() {
  const market = await marketplace();
  const { manager, staking, asAdmin, stranger } = market;
  await asAdmin(manager.grantRole.populateTransaction(ROLES.court, stranger, 0));
  await nextPeriod();
  return { ...market, court: stranger, bench: staking.connect(stranger) };
}

describe("ToolStaking.penalize", () => {
  it("takes the amount at once, credits the share, and gives the rest to the insurance account", async () => {
    const { staking, bench, court: judge, insurance, payer, tool } = await court();
    await expect(bench.penalize(tool, usd("2"), payer, usd("1.5")))
      .to.emit(staking, "Penalized")
      .withArgs(tool, judge, payer, usd("2"), usd("1.5"));
    expect((await staking.tool(tool)).stake).to.equal(STAKE - usd("2"));
    expect(await staking.creditOf(payer)).to.equal(usd("1.5"));
    expect(await staking.creditOf(insurance)).to.equal(usd("0.5"));
  });

  it("stops the tool from earning, as too little stake does", async () => {
    const { staking, bench, payer, tool } = await court();
    await bench.penalize(tool, 1n, payer, 0n);
    expect((await staking.earner(tool)).payee).to.equal(ZeroAddress);
  });

  it("takes a quarter of the stake in any 24 hours and not a unit more", async () => {
    const { staking, bench, payer, tool } = await court();
    await expect(bench.penalize(tool, usd("2.5") + 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(usd("2.5") + 1n, usd("2.5"));
    await bench.penalize(tool, usd("2.5"), payer, 0n);
    await expect(bench.penalize(tool, 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(1n, 0n);
    // 24 hours touch four periods of eight hours.
    await time.increase(32 * HOUR);
    await expect(bench.penalize(tool, usd("1.875") + 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(usd("1.875") + 1n, usd("1.875"));
    await bench.penalize(tool, usd("1.875"), payer, 0n);
  });

  it("takes no more at once than the parameters allow, however large the stake", async () => {
    const { staking, bench, listTool, rival, payer } = await court();
    const rich = await listTool({ owner: rival, stake: usd("1000") });
    await expect(bench.penalize(rich, usd("5") + 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(usd("5") + 1n, usd("5"));
    await bench.penalize(rich, usd("5"), payer, usd("5"));
  });

  it("follows the parameters, and takes nothing if they say so", async () => {
    const { staking, asAdmin, bench, payer, tool } = await court();
    await asAdmin(staking.setParameters.populateTransaction({ ...PARAMETERS, maxPenalty: 0n }));
    await expect(bench.penalize(tool, 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(1n, 0n);
  });

  it("cannot credit more than it takes", async () => {
    const { staking, bench, payer, tool } = await court();
    await expect(bench.penalize(tool, 1n, payer, 2n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(2n, 1n);
  });

  it("reaches a withdrawal that a slash could hold, and none that it could not", async () => {
    const { staking, bench, developer, payer, tool } = await court();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    const thawsAt = Number((await staking.tool(tool)).readyAt) + 14 * DAY;
    await time.setNextBlockTimestamp(thawsAt - 1);
    await bench.penalize(tool, usd("1"), payer, 0n);
    expect((await staking.tool(tool)).withdrawing).to.equal(STAKE - usd("1"));
    await time.setNextBlockTimestamp(thawsAt);
    await expect(bench.penalize(tool, 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(1n, 0n);
  });

  it("leaves what a proposed slash asks for, so that nobody convicts their own tool to get it out before", async () => {
    const { staking, bench, adjudicator, developer: cheat, payer: victim, rival: accomplice, tool } = await court();
    const terms = slashTerms({ amount: STAKE, refunds: [[victim, STAKE]] });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await expect(bench.penalize(tool, 1n, accomplice, 1n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(1n, 0n);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    expect(await staking.creditOf(victim)).to.equal(STAKE);
    expect(await staking.creditOf(accomplice)).to.equal(0n);
    expect((await staking.tool(tool)).owner).to.equal(cheat);
  });

  it("goes on beside a slash that asks for a part, out of the other part", async () => {
    const { staking, bench, adjudicator, payer, tool } = await court();
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: usd("6") }));
    await expect(bench.penalize(tool, usd("1") + 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds")
      .withArgs(usd("1") + 1n, usd("1"));
    await bench.penalize(tool, usd("1"), payer, 0n);
    // A proposal that nobody executed asks for nothing any longer.
    await time.increase(7 * DAY);
    await bench.penalize(tool, usd("2"), payer, 0n);
  });

  it("cannot pay a court, the insurance account, or an account that could never claim", async () => {
    const { staking, manager, parts, usdc, bench, court: judge, insurance, tool } = await court();
    await expect(bench.penalize(tool, 1n, judge, 1n))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(judge);
    for (const account of [insurance, usdc, ...parts]) {
      await expect(bench.penalize(tool, 1n, account, 1n))
        .to.be.revertedWithCustomError(staking, "InvalidRecipient")
        .withArgs(account);
    }
    const call = staking.interface.encodeFunctionData("penalize", [tool, 1n, judge.address, 1n]);
    await expect(manager.connect(judge).execute(staking, call)).to.be.revertedWithCustomError(
      staking,
      "CalledThroughAuthority",
    );
  });

  it("takes nothing while a court is the insurance account, which gets the rest", async () => {
    const { staking, asAdmin, bench, court: judge, payer, tool } = await court();
    await asAdmin(staking.proposeBeneficiary.populateTransaction(judge));
    await bench.acceptBeneficiary();
    await expect(bench.penalize(tool, 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(judge);
  });

  it("ends when the guardian suspends the court, at once", async () => {
    const { staking, manager, guardian, bench, court: judge, payer, tool } = await court();
    await manager.connect(guardian).suspend(ROLES.court, judge);
    await expect(bench.penalize(tool, 1n, payer, 0n))
      .to.be.revertedWithCustomError(staking, "AccessManagedUnauthorized")
      .withArgs(judge);
  });

  it("touches no other tool's stake, and what it credits can be claimed", async () => {
    const { staking, usdc, bench, listTool, rival, payer, tool } = await court();
    const other = await listTool({ owner: rival });
    await bench.penalize(tool, usd("2"), payer, usd("2"));
    expect((await staking.tool(other)).stake).to.equal(STAKE);
    await expect(staking.connect(payer).claim()).to.changeTokenBalance(ethers, usdc, payer, usd("2"));
  });
});

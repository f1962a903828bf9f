// executeSlash
// ├── when nothing is proposed: NoSlash
// └── when a slash is proposed
//     ├── and the terms are other ones: SlashTermsMismatch
//     ├── and the developer can still answer: SlashNotReady until the last second of it
//     ├── and the window has passed: SlashExpired from its first second on
//     └── and the window is open
//         ├── where the money is taken from
//         │   ├── the stake covers the amount: from the stake alone
//         │   ├── the stake is less than the amount: from the stake, then from what was asked back
//         │   └── less is left than was proposed
//         │       ├── and it covers the refunds: all of it is taken
//         │       ├── and it does not cover the refunds: each is paid in proportion
//         │       ├── and a request that no slash can hold any longer is still there: it is left alone
//         │       └── and it is nothing: SlashExceedsStake, and the evidence is not used up
//         ├── whom it goes to
//         │   ├── refunds first, then the bounty, the rest to the insurance account
//         │   ├── refunds leave less than the bounty: the reporter gets what is left
//         │   ├── refunds leave nothing: neither reporter nor insurance get anything
//         │   ├── without a reporter: no bounty
//         │   ├── an odd amount: the bounty is rounded down
//         │   └── the bounty is that of the day of the proposal
//         └── afterwards the proposal is gone
import { expect } from "chai";
import { ZeroAddress, ZeroHash } from "ethers";
import { ADMIN_DELAY_SECONDS } from "../../../scripts/protocol/description.ts";
import { DAY, ethers, freshHash, marketplace, PARAMETERS, STAKE, slashTerms, time, usd } from "../fixture.ts";

async function proposed(overrides: Parameters<typeof slashTerms>[0] = {}) {
  const market = await marketplace();
  const { staking, adjudicator, tool } = market;
  const terms = slashTerms(overrides);
  await staking.connect(adjudicator).proposeSlash(tool, terms);
  const slash = await staking.slashOf(tool);
  const execute = () => staking.connect(adjudicator).executeSlash(tool, terms);
  return { ...market, terms, execute, executableAt: Number(slash.executableAt), expiresAt: Number(slash.expiresAt) };
}

describe("ToolStaking.executeSlash", () => {
  it("refuses when nothing is proposed", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    await expect(staking.connect(adjudicator).executeSlash(tool, slashTerms()))
      .to.be.revertedWithCustomError(staking, "NoSlash")
      .withArgs(tool);
  });

  it("refuses terms that differ from the proposal in anything", async () => {
    const { reporter, payer, neighbour } = await marketplace();
    const { staking, adjudicator, tool, terms, executableAt } = await proposed({ reporter, refunds: [[payer, 1n]] });
    const { termsHash } = await staking.slashOf(tool);
    await time.increaseTo(executableAt);
    for (const other of [
      { ...terms, amount: STAKE - 1n },
      { ...terms, evidenceHash: freshHash() },
      { ...terms, reporter: neighbour.address },
      { ...terms, refunds: [] },
      { ...terms, refunds: [{ payer: payer.address, amount: 2n }] },
      { ...terms, refunds: [{ payer: neighbour.address, amount: 1n }] },
    ]) {
      await expect(staking.connect(adjudicator).executeSlash(tool, other))
        .to.be.revertedWithCustomError(staking, "SlashTermsMismatch")
        .withArgs((given: string) => given !== termsHash, termsHash);
    }
  });

  it("gives the developer three days to the second", async () => {
    const { staking, execute, executableAt } = await proposed();
    await time.setNextBlockTimestamp(executableAt - 1);
    await expect(execute())
      .to.be.revertedWithCustomError(staking, "SlashNotReady")
      .withArgs(executableAt - 1, executableAt);
    await time.setNextBlockTimestamp(executableAt);
    await execute();
  });

  it("is possible until the last second of the window", async () => {
    const { execute, expiresAt } = await proposed();
    await time.setNextBlockTimestamp(expiresAt - 1);
    await execute();
  });

  it("is void from the end of the window on", async () => {
    const { staking, execute, expiresAt } = await proposed();
    await time.setNextBlockTimestamp(expiresAt);
    await expect(execute()).to.be.revertedWithCustomError(staking, "SlashExpired").withArgs(expiresAt, expiresAt);
  });

  describe("where the money is taken from", () => {
    it("is the stake alone, if that covers the amount", async () => {
      const { staking, developer, tool, execute, executableAt } = await proposed({ amount: usd("3") });
      await staking.connect(developer).requestWithdrawal(tool, usd("6"));
      await time.increaseTo(executableAt);
      await execute();
      const { stake, withdrawing } = await staking.tool(tool);
      expect([stake, withdrawing]).to.deep.equal([usd("1"), usd("6")]);
    });

    it("is the stake first and then what was asked back", async () => {
      const { staking, developer, tool, execute, executableAt } = await proposed({ amount: usd("7") });
      await staking.connect(developer).requestWithdrawal(tool, usd("6"));
      await time.increaseTo(executableAt);
      await execute();
      const { stake, withdrawing } = await staking.tool(tool);
      expect([stake, withdrawing]).to.deep.equal([0n, usd("3")]);
    });

    // The only way for a stake to leave under a proposal is that the longest freeze ends before it is executed.
    async function thawed(refund: bigint, { leaves = true } = {}) {
      const market = await marketplace();
      const { staking, adjudicator, developer, payer, tool } = market;
      await staking.connect(developer).requestWithdrawal(tool, usd("6"));
      const thawsAt = Number((await staking.tool(tool)).readyAt) + 14 * DAY;
      await time.setNextBlockTimestamp(thawsAt - 3 * DAY - 1);
      const terms = slashTerms({
        amount: STAKE,
        reporter: market.reporter,
        refunds: [
          [payer, refund],
          [market.neighbour, refund],
        ],
      });
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.setNextBlockTimestamp(thawsAt);
      if (leaves) await staking.connect(developer).withdraw(tool, developer);
      return { ...market, terms, thawsAt };
    }

    it("is all that is left, if that is less than was proposed", async () => {
      const { staking, adjudicator, reporter, tool, terms } = await thawed(usd("2"));
      await expect(staking.connect(adjudicator).executeSlash(tool, terms))
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, usd("4"), usd("4"), 0n, 0n);
      expect((await staking.tool(tool)).stake).to.equal(0n);
    });

    it("is paid to the harmed in proportion, if what is left does not cover the refunds", async () => {
      const { staking, adjudicator, payer, neighbour, tool, terms } = await thawed(usd("3"));
      const slash = staking.connect(adjudicator).executeSlash(tool, terms);
      await expect(slash).to.emit(staking, "Refunded").withArgs(tool, payer, usd("2"));
      await expect(slash).to.emit(staking, "Refunded").withArgs(tool, neighbour, usd("2"));
      expect(await staking.creditOf(payer)).to.equal(usd("2"));
    });

    it("is never a withdrawal that no slash can hold any longer, though it is still there", async () => {
      const { staking, usdc, adjudicator, developer, tool, terms, thawsAt } = await thawed(usd("1"), { leaves: false });
      await time.setNextBlockTimestamp(thawsAt + 1);
      await staking.connect(adjudicator).executeSlash(tool, terms);
      expect((await staking.tool(tool)).withdrawing).to.equal(usd("6"));
      await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
        ethers,
        usdc,
        developer,
        usd("6"),
      );
    });

    it("is nowhere, if nothing is left, and the evidence can be used when there is something again", async () => {
      const { staking, fundStake, adjudicator, developer, tool } = await marketplace();
      await staking.connect(developer).requestWithdrawal(tool, STAKE);
      const thawsAt = Number((await staking.tool(tool)).readyAt) + 14 * DAY;
      await time.setNextBlockTimestamp(thawsAt - 3 * DAY - 1);
      const terms = slashTerms();
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.setNextBlockTimestamp(thawsAt);
      await staking.connect(developer).withdraw(tool, developer);
      await expect(staking.connect(adjudicator).executeSlash(tool, terms))
        .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
        .withArgs(STAKE, 0n);
      await fundStake(developer, STAKE);
      await staking.connect(developer).stake(tool, STAKE);
      await staking.connect(adjudicator).executeSlash(tool, terms);
    });
  });

  describe("whom it goes to", () => {
    it("refunds the payers first, then pays the bounty, then the insurance account", async () => {
      const { reporter, payer, neighbour } = await marketplace();
      const { staking, insurance, treasury, tool, terms, execute, executableAt } = await proposed({
        reporter,
        refunds: [
          [payer, usd("2")],
          [neighbour, usd("3")],
        ],
      });
      await time.increaseTo(executableAt);
      const slash = execute();
      await expect(slash).to.emit(staking, "Refunded").withArgs(tool, payer, usd("2"));
      await expect(slash).to.emit(staking, "Refunded").withArgs(tool, neighbour, usd("3"));
      await expect(slash)
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, STAKE, usd("5"), usd("1"), usd("4"));
      expect(await staking.creditOf(payer)).to.equal(usd("2"));
      expect(await staking.creditOf(neighbour)).to.equal(usd("3"));
      expect(await staking.creditOf(reporter)).to.equal(usd("1"));
      expect(await staking.creditOf(insurance)).to.equal(usd("4"));
      expect(await staking.creditOf(treasury)).to.equal(0n);
    });

    it("gives the reporter what refunds leave, if that is less than the bounty", async () => {
      const { reporter, payer } = await marketplace();
      const { staking, tool, terms, execute, executableAt } = await proposed({
        reporter,
        refunds: [[payer, usd("9.4")]],
      });
      await time.increaseTo(executableAt);
      await expect(execute())
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, STAKE, usd("9.4"), usd("0.6"), 0n);
    });

    it("gives reporter and insurance nothing, if refunds leave nothing", async () => {
      const { reporter, payer } = await marketplace();
      const { staking, tool, terms, execute, executableAt } = await proposed({ reporter, refunds: [[payer, STAKE]] });
      await time.increaseTo(executableAt);
      await expect(execute())
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, STAKE, STAKE, 0n, 0n);
    });

    it("pays no bounty without a reporter", async () => {
      const { staking, tool, terms, execute, executableAt } = await proposed();
      await time.increaseTo(executableAt);
      const slash = execute();
      await expect(slash)
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, ZeroAddress, STAKE, 0n, 0n, STAKE);
      await expect(slash).not.to.emit(staking, "Refunded");
    });

    it("rounds the bounty down, in favour of the insurance account", async () => {
      const { reporter } = await marketplace();
      const { staking, tool, terms, execute, executableAt } = await proposed({ reporter, amount: 19n });
      await time.increaseTo(executableAt);
      await expect(execute())
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, 19n, 0n, 1n, 18n);
    });

    it("pays the bounty of the day of the proposal, whatever the admin has decided since", async () => {
      const { staking, manager, admin, adjudicator, reporter, tool } = await marketplace();
      const parameters = { ...PARAMETERS, bountyBps: 3000 };
      const { to, data } = await staking.setParameters.populateTransaction(parameters);
      await manager.connect(admin).schedule(to, data, 0);
      // The admin's decision ripens while the slash waits.
      await time.increase(ADMIN_DELAY_SECONDS - DAY);
      const terms = slashTerms({ reporter });
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      await time.increase(3 * DAY);
      await manager.connect(admin).execute(to, data);
      await expect(staking.connect(adjudicator).executeSlash(tool, terms))
        .to.emit(staking, "Slashed")
        .withArgs(tool, terms.evidenceHash, reporter, STAKE, 0n, usd("1"), usd("9"));
    });
  });

  it("ends the proposal, so that the next one needs no waiting", async () => {
    const { staking, fundStake, adjudicator, developer, tool, execute, executableAt } = await proposed();
    await time.increaseTo(executableAt);
    await execute();
    expect(await staking.slashOf(tool)).to.deep.equal([ZeroHash, 0n, 0n, 0n, 0n, 0n]);
    await fundStake(developer, 1n);
    await staking.connect(developer).stake(tool, 1n);
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: 1n }));
  });
});

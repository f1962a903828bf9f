import { expect } from "chai";
import { ZeroAddress, ZeroHash } from "ethers";
import { DAY, ethers, freshHash, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("ToolStaking.proposeSlash", () => {
  it("publishes the terms and the days in which they can be answered and executed", async () => {
    const { staking, adjudicator, reporter, payer, tool } = await marketplace();
    const terms = slashTerms({ amount: usd("5"), reporter, refunds: [[payer, usd("2")]] });
    const proposedAt = (await time.latest()) + 10;
    const executableAt = proposedAt + 3 * DAY;
    const expiresAt = proposedAt + 7 * DAY;
    await time.setNextBlockTimestamp(proposedAt);
    await expect(staking.connect(adjudicator).proposeSlash(tool, terms))
      .to.emit(staking, "SlashProposed")
      .withArgs(
        tool,
        [usd("5"), terms.evidenceHash, reporter.address, [[payer.address, usd("2")]]],
        1000n,
        executableAt,
        expiresAt,
      );
    const slash = await staking.slashOf(tool);
    expect(slash.termsHash).not.to.equal(ZeroHash);
    expect(slash.executableAt).to.equal(executableAt);
    expect(slash.expiresAt).to.equal(expiresAt);
    expect([slash.amount, slash.bountyBps, slash.vetoedUntil]).to.deep.equal([usd("5"), 1000n, 0n]);
  });

  it("takes nothing yet, and lets the tool go on earning", async () => {
    const { staking, adjudicator, developer, tool } = await marketplace();
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms());
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
    expect((await staking.earner(tool)).payee).to.equal(developer);
  });

  it("refuses a second proposal until the first has expired", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms());
    const expiresAt = Number((await staking.slashOf(tool)).expiresAt);
    await time.setNextBlockTimestamp(expiresAt - 1);
    await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms()))
      .to.be.revertedWithCustomError(staking, "SlashPending")
      .withArgs(tool, expiresAt);
    await time.setNextBlockTimestamp(expiresAt);
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms());
  });

  it("refuses to slash nothing", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    await expect(
      staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: 0n })),
    ).to.be.revertedWithCustomError(staking, "ZeroAmount");
  });

  it("reaches the stake and what was asked back, and no further", async () => {
    const { staking, adjudicator, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: STAKE + 1n })))
      .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
      .withArgs(STAKE + 1n, STAKE);
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: STAKE }));
  });

  it("does not count what will have thawed before it could be taken", async () => {
    const { staking, adjudicator, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    const thawsAt = Number((await staking.tool(tool)).readyAt) + 14 * DAY;
    await time.setNextBlockTimestamp(thawsAt - 3 * DAY);
    await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: STAKE })))
      .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
      .withArgs(STAKE, usd("6"));
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: usd("6") }));
  });

  it("counts what waits for its withdrawal up to the last second in which it can be taken", async () => {
    const { staking, adjudicator, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, usd("4"));
    const thawsAt = Number((await staking.tool(tool)).readyAt) + 14 * DAY;
    await time.setNextBlockTimestamp(thawsAt - 3 * DAY - 1);
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: STAKE }));
  });

  it("refuses a tool that is not listed, which has no stake", async () => {
    const { staking, adjudicator, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(adjudicator).proposeSlash(unlisted, slashTerms({ amount: 1n })))
      .to.be.revertedWithCustomError(staking, "SlashExceedsStake")
      .withArgs(1n, 0n);
  });

  it("refuses evidence that the tool was slashed for before", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    const terms = slashTerms({ amount: 1n });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    await expect(staking.connect(adjudicator).proposeSlash(tool, { ...terms, amount: 2n }))
      .to.be.revertedWithCustomError(staking, "EvidenceAlreadyUsed")
      .withArgs(tool, terms.evidenceHash);
  });

  it("accepts the same evidence against another tool", async () => {
    const { staking, listTool, adjudicator, rival, tool } = await marketplace();
    const other = await listTool({ owner: rival });
    const terms = slashTerms({ amount: 1n });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    await expect(staking.connect(adjudicator).proposeSlash(other, terms)).to.emit(staking, "SlashProposed");
  });

  it("accepts the same evidence again after a proposal that came to nothing", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    const terms = slashTerms({ amount: 1n });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await staking.connect(adjudicator).dismissSlash(tool);
    await expect(staking.connect(adjudicator).proposeSlash(tool, terms)).to.emit(staking, "SlashProposed");
  });

  it("allows 200 refunds and not one more", async () => {
    const { staking, adjudicator, payer, tool } = await marketplace();
    const terms = (count: number) => slashTerms({ refunds: Array.from({ length: count }, () => [payer, 1n] as const) });
    await expect(staking.connect(adjudicator).proposeSlash(tool, terms(201)))
      .to.be.revertedWithCustomError(staking, "TooManyRefunds")
      .withArgs(201, 200);
    await staking.connect(adjudicator).proposeSlash(tool, terms(200));
  });

  it("refuses refunds that are more than the slash", async () => {
    const { staking, adjudicator, payer, neighbour, tool } = await marketplace();
    const refunds = (last: bigint) =>
      slashTerms({
        amount: usd("5"),
        refunds: [
          [payer, usd("4")],
          [neighbour, last],
        ],
      });
    await expect(staking.connect(adjudicator).proposeSlash(tool, refunds(usd("1") + 1n)))
      .to.be.revertedWithCustomError(staking, "RefundsExceedSlash")
      .withArgs(usd("5") + 1n, usd("5"));
    await staking.connect(adjudicator).proposeSlash(tool, refunds(usd("1")));
  });

  it("refuses to refund nobody", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    const terms = slashTerms({ refunds: [[{ address: ZeroAddress }, 1n]] });
    await expect(staking.connect(adjudicator).proposeSlash(tool, terms))
      .to.be.revertedWithCustomError(staking, "InvalidRecipient")
      .withArgs(ZeroAddress);
  });

  it("refuses to refund, and to reward, a contract of the protocol", async () => {
    const { staking, adjudicator, parts, tool } = await marketplace();
    for (const part of parts) {
      const account = { address: await ethers.resolveAddress(part) };
      for (const terms of [slashTerms({ refunds: [[account, 1n]] }), slashTerms({ reporter: account })]) {
        await expect(staking.connect(adjudicator).proposeSlash(tool, terms))
          .to.be.revertedWithCustomError(staking, "InvalidRecipient")
          .withArgs(part);
      }
    }
  });

  it("refuses an adjudicator who reports", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms({ reporter: adjudicator })))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(adjudicator);
  });

  it("refuses an adjudicator who is refunded, wherever in the list", async () => {
    const { staking, adjudicator, payer, tool } = await marketplace();
    for (const refunds of [
      [
        [adjudicator, 1n],
        [payer, 1n],
      ],
      [
        [payer, 1n],
        [adjudicator, 1n],
      ],
    ] as const) {
      await expect(staking.connect(adjudicator).proposeSlash(tool, slashTerms({ refunds })))
        .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
        .withArgs(adjudicator);
    }
  });
});

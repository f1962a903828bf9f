import { expect } from "chai";
import { ROLES } from "../../../scripts/deploy/protocol.ts";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("a thief with the adjudicator's key", () => {
  it("takes nothing within three days, and nothing at all if the guardian vetoes in them", async () => {
    const { staking, adjudicator: thief, guardian, stranger: accomplice, tool } = await marketplace();
    const terms = slashTerms({ refunds: [[accomplice, STAKE]] });
    await staking.connect(thief).proposeSlash(tool, terms);
    await expect(staking.connect(thief).executeSlash(tool, terms)).to.be.revertedWithCustomError(
      staking,
      "SlashNotReady",
    );
    await staking.connect(guardian).vetoSlash(tool);
    await time.increase(3 * DAY);
    await expect(staking.connect(thief).executeSlash(tool, terms)).to.be.revertedWithCustomError(staking, "NoSlash");
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
    expect(await staking.creditOf(accomplice)).to.equal(0n);
  });

  it("cannot name itself as reporter or as harmed payer", async () => {
    const { staking, adjudicator: thief, tool } = await marketplace();
    for (const terms of [slashTerms({ reporter: thief }), slashTerms({ refunds: [[thief, 1n]] })]) {
      await expect(staking.connect(thief).proposeSlash(tool, terms))
        .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
        .withArgs(thief);
    }
  });

  it("cannot execute what another adjudicator proposed in its favour", async () => {
    const { staking, manager, asAdmin, adjudicator, stranger: thief, tool } = await marketplace();
    await asAdmin(manager.grantRole.populateTransaction(ROLES.adjudicator, thief, 0));
    const terms = slashTerms({ reporter: thief });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await expect(staking.connect(thief).executeSlash(tool, terms))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(thief);
    await staking.connect(adjudicator).executeSlash(tool, terms);
  });

  it("cannot swap the published terms for better ones at the last moment", async () => {
    const { staking, adjudicator: thief, stranger: accomplice, tool } = await marketplace();
    const terms = slashTerms();
    await staking.connect(thief).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    const better = { ...terms, refunds: [{ payer: accomplice.address, amount: STAKE }] };
    await expect(staking.connect(thief).executeSlash(tool, better)).to.be.revertedWithCustomError(
      staking,
      "SlashTermsMismatch",
    );
  });

  it("cannot take one tool's stake for another's fraud", async () => {
    const { staking, listTool, adjudicator: thief, developer, rival, tool } = await marketplace();
    const other = await listTool({ owner: rival });
    const terms = slashTerms({ amount: STAKE });
    await staking.connect(thief).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(thief).executeSlash(tool, terms);
    expect((await staking.tool(other)).stake).to.equal(STAKE);
    expect((await staking.tool(tool)).owner).to.equal(developer);
  });

  it("cannot hold a withdrawal back for longer than the longest freeze, though it proposes for ever", async () => {
    const { staking, usdc, adjudicator: thief, developer, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    const readyAt = Number((await staking.tool(tool)).readyAt);
    const thawsAt = readyAt + 14 * DAY;
    let expiresAt = await time.latest();
    for (let proposals = 0; proposals < 3; proposals += 1) {
      await time.setNextBlockTimestamp(expiresAt + 1);
      await staking.connect(thief).proposeSlash(tool, slashTerms({ amount: 1n }));
      expiresAt = Number((await staking.slashOf(tool)).expiresAt);
    }
    expect(expiresAt).to.be.greaterThan(thawsAt);
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

  it("has no say over payments, credits or roles", async () => {
    const { router, adjudicator: thief, settle, operator, developer, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("1")]] }]);
    for (const attempt of [router.connect(thief).pause(), router.connect(thief).suspendOperator(operator)]) {
      await expect(attempt).to.be.revertedWithCustomError(router, "AccessManagedUnauthorized").withArgs(thief);
    }
    expect(await router.creditOf(developer)).to.equal(usd("0.9"));
  });
});

import { expect } from "chai";
import { ROLES } from "../../../scripts/protocol/description.ts";
import { DAY, ethers, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("a thief with the adjudicator's key", () => {
  it("takes nothing within three days, and nothing at all if the guardian vetoes in them", async () => {
    const { staking, veto, adjudicator: thief, stranger: accomplice, tool } = await marketplace();
    const terms = slashTerms({ refunds: [[accomplice, STAKE]] });
    await staking.connect(thief).proposeSlash(tool, terms);
    await expect(staking.connect(thief).executeSlash(tool, terms)).to.be.revertedWithCustomError(
      staking,
      "SlashNotReady",
    );
    await veto(tool);
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

  it("cannot name itself through the manager's execute, where the caller would be the manager", async () => {
    const { staking, manager, adjudicator: thief, tool } = await marketplace();
    for (const terms of [slashTerms({ reporter: thief }), slashTerms({ refunds: [[thief, STAKE]] }), slashTerms()]) {
      const call = staking.interface.encodeFunctionData("proposeSlash", [tool, terms]);
      await expect(manager.connect(thief).execute(staking, call))
        .to.be.revertedWithCustomError(staking, "CalledThroughAuthority")
        .withArgs(manager);
    }
    const terms = slashTerms();
    await staking.connect(thief).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    for (const call of [
      staking.interface.encodeFunctionData("executeSlash", [tool, terms]),
      staking.interface.encodeFunctionData("dismissSlash", [tool]),
    ]) {
      await expect(manager.connect(thief).execute(staking, call)).to.be.revertedWithCustomError(
        staking,
        "CalledThroughAuthority",
      );
    }
    expect((await staking.tool(tool)).stake).to.equal(STAKE);
  });

  it("cannot let another adjudicator propose or execute in its favour", async () => {
    const { staking, manager, asAdmin, adjudicator, stranger: thief, tool } = await marketplace();
    const early = slashTerms({ reporter: thief });
    await asAdmin(manager.grantRole.populateTransaction(ROLES.adjudicator, thief, 0));
    await expect(staking.connect(adjudicator).proposeSlash(tool, early))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(thief);
  });

  it("cannot be named and become an adjudicator before the slash is executed", async () => {
    const { staking, manager, admin, adjudicator, stranger: thief, tool } = await marketplace();
    const { to, data } = await manager.grantRole.populateTransaction(ROLES.adjudicator, thief, 0);
    await manager.connect(admin).schedule(to, data, 0);
    await time.increase(6 * DAY);
    const terms = slashTerms({ reporter: thief });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await manager.connect(admin).execute(to, data);
    for (const by of [thief, adjudicator]) {
      await expect(staking.connect(by).executeSlash(tool, terms))
        .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
        .withArgs(thief);
    }
  });

  it("does not become the insurance account and judge on", async () => {
    const { staking, asAdmin, adjudicator: thief, tool } = await marketplace();
    await asAdmin(staking.proposeBeneficiary.populateTransaction(thief));
    await staking.connect(thief).acceptBeneficiary();
    await expect(staking.connect(thief).proposeSlash(tool, slashTerms()))
      .to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn")
      .withArgs(thief);
  });

  it("cannot name the insurance account, which gets the rest anyway, nor an account that could never claim", async () => {
    const { staking, manager, router, usdc, insurance, adjudicator: thief, tool } = await marketplace();
    for (const account of [insurance, manager, router, usdc, staking]) {
      const address = await account.getAddress();
      for (const terms of [slashTerms({ reporter: { address } }), slashTerms({ refunds: [[{ address }, 1n]] })]) {
        await expect(staking.connect(thief).proposeSlash(tool, terms))
          .to.be.revertedWithCustomError(staking, "InvalidRecipient")
          .withArgs(address);
      }
    }
  });

  it("cannot propose again after a veto, in the same block or for eight days, with the same terms or with others", async () => {
    const { staking, veto, adjudicator: thief, developer, usdc, stranger: accomplice, tool } = await marketplace();
    const terms = slashTerms({ refunds: [[accomplice, STAKE]] });
    await staking.connect(thief).proposeSlash(tool, terms);
    await veto(tool);
    const until = Number((await staking.slashOf(tool)).vetoedUntil);
    expect(until).to.equal((await time.latest()) + 8 * DAY);
    // A developer who leaves now is out before the next proposal.
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    for (const again of [terms, slashTerms({ amount: 1n })]) {
      await expect(staking.connect(thief).proposeSlash(tool, again))
        .to.be.revertedWithCustomError(staking, "SlashVetoed")
        .withArgs(tool, until);
    }
    await time.setNextBlockTimestamp(until - 1);
    await expect(staking.connect(thief).proposeSlash(tool, terms)).to.be.revertedWithCustomError(
      staking,
      "SlashVetoed",
    );
    await expect(staking.connect(developer).withdraw(tool, developer)).to.changeTokenBalance(
      ethers,
      usdc,
      developer,
      STAKE,
    );
  });

  it("is suspended by the guardian at once, and what it proposed is never executed", async () => {
    const { staking, manager, guardian, adjudicator: thief, stranger: accomplice, tool } = await marketplace();
    const terms = slashTerms({ refunds: [[accomplice, STAKE]] });
    await staking.connect(thief).proposeSlash(tool, terms);
    await manager.connect(guardian).suspend(ROLES.adjudicator, thief);
    await time.increase(3 * DAY);
    await expect(staking.connect(thief).executeSlash(tool, terms))
      .to.be.revertedWithCustomError(staking, "AccessManagedUnauthorized")
      .withArgs(thief);
  });

  it("cannot have a veto hit other terms than those that the guardian saw", async () => {
    const { staking, guardian, adjudicator: thief, tool } = await marketplace();
    await staking.connect(thief).proposeSlash(tool, slashTerms());
    const seen = (await staking.slashOf(tool)).termsHash;
    await staking.connect(thief).dismissSlash(tool);
    await staking.connect(thief).proposeSlash(tool, slashTerms({ amount: 1n }));
    const { termsHash } = await staking.slashOf(tool);
    await expect(staking.connect(guardian).vetoSlash(tool, seen))
      .to.be.revertedWithCustomError(staking, "SlashTermsMismatch")
      .withArgs(seen, termsHash);
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

  it("cannot hold a withdrawal back for longer than the longest freeze, though it proposes permanently", async () => {
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

import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { DAY, FUNDS, freshHash, marketplace, STAKE, slashTerms, time, usd } from "../fixture.ts";

describe("a replay", () => {
  it("of a batch by its operator reverts", async () => {
    const { router, usdc, settle, payer, tool } = await marketplace();
    const batchId = freshHash();
    await settle([{ payer, lines: [[tool, usd("1")]] }], { batchId });
    await expect(settle([{ payer, lines: [[tool, usd("1")]] }], { batchId })).to.be.revertedWithCustomError(
      router,
      "BatchAlreadySettled",
    );
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
  });

  it("of a batch by another operator reverts", async () => {
    const { router, usdc, settle, asAdmin, postBond, stranger: other, payer, tool } = await marketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(other, usd("100")));
    await postBond(other, usd("100"));
    const batchId = freshHash();
    await settle([{ payer, lines: [[tool, usd("1")]] }], { batchId });
    await expect(settle([{ payer, lines: [[tool, usd("1")]] }], { batchId, by: other }))
      .to.be.revertedWithCustomError(router, "BatchAlreadySettled")
      .withArgs(batchId, await router.settledAt(batchId));
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
  });

  it("of a batch reverts even after all its rows have failed: they need new receipts", async () => {
    const { router, fund, settle, stranger: poor, tool } = await marketplace();
    const batchId = freshHash();
    const charges = [{ payer: poor, lines: [[tool, usd("1")]] as const }];
    await expect(settle(charges, { batchId })).to.emit(router, "ChargeFailed");
    await fund(poor, usd("1"));
    await expect(settle(charges, { batchId })).to.be.revertedWithCustomError(router, "BatchAlreadySettled");
    await expect(settle(charges)).not.to.emit(router, "ChargeFailed");
  });

  it("of a batch reverts years later", async () => {
    const { router, settle, payer, tool } = await marketplace();
    const batchId = freshHash();
    await settle([{ payer, lines: [[tool, 1n]] }], { batchId });
    await time.increase(3650 * DAY);
    await expect(settle([{ payer, lines: [[tool, 1n]] }], { batchId })).to.be.revertedWithCustomError(
      router,
      "BatchAlreadySettled",
    );
  });

  it("of executed slash terms reverts, proposed again or not", async () => {
    const { staking, adjudicator, tool } = await marketplace();
    const terms = slashTerms({ amount: usd("1") });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    await expect(staking.connect(adjudicator).executeSlash(tool, terms))
      .to.be.revertedWithCustomError(staking, "NoSlash")
      .withArgs(tool);
    await expect(staking.connect(adjudicator).proposeSlash(tool, terms))
      .to.be.revertedWithCustomError(staking, "EvidenceAlreadyUsed")
      .withArgs(tool, terms.evidenceHash);
    expect((await staking.tool(tool)).stake).to.equal(STAKE - usd("1"));
  });

  it("of slash evidence under other terms reverts", async () => {
    const { staking, adjudicator, reporter, tool } = await marketplace();
    const terms = slashTerms({ amount: usd("1") });
    await staking.connect(adjudicator).proposeSlash(tool, terms);
    await time.increase(3 * DAY);
    await staking.connect(adjudicator).executeSlash(tool, terms);
    const { evidenceHash } = terms;
    await expect(
      staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: usd("2"), evidenceHash, reporter })),
    )
      .to.be.revertedWithCustomError(staking, "EvidenceAlreadyUsed")
      .withArgs(tool, evidenceHash);
  });

  it("of a permit reverts", async () => {
    const { router, usdc, settle, signPermit, payer, stranger, tool } = await marketplace();
    await usdc.connect(payer).approve(router, 0n);
    const permit = await signPermit(payer, usd("5"));
    await usdc.connect(stranger).permit(...permit);
    await settle([{ payer, lines: [[tool, usd("5")]] }]);
    await expect(usdc.connect(stranger).permit(...permit)).to.be.revertedWith("EIP2612: invalid signature");
    expect(await usdc.allowance(payer, router)).to.equal(0n);
  });

  it("of an accepted ownership reverts", async () => {
    const { staking, developer, rival, tool } = await marketplace();
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(rival).acceptOwnership(tool);
    await expect(staking.connect(rival).acceptOwnership(tool))
      .to.be.revertedWithCustomError(staking, "NotPendingOwner")
      .withArgs(rival, ZeroAddress);
  });

  it("of a withdrawal reverts", async () => {
    const { staking, usdc, listTool, developer, rival, tool } = await marketplace();
    await listTool({ owner: rival });
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    await time.increase(7 * DAY);
    await staking.connect(developer).withdraw(tool, developer);
    await expect(staking.connect(developer).withdraw(tool, developer))
      .to.be.revertedWithCustomError(staking, "NoWithdrawal")
      .withArgs(tool);
    expect(await usdc.balanceOf(staking)).to.equal(STAKE);
  });

  it("of a claim reverts", async () => {
    const { router, settle, developer, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, usd("1")]] }]);
    await router.connect(developer).claim();
    await expect(router.connect(developer).claim())
      .to.be.revertedWithCustomError(router, "NothingToClaim")
      .withArgs(developer);
  });
});

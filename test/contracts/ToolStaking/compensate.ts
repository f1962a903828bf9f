import { expect } from "chai";
import { ROLES } from "../../../scripts/protocol/description.ts";
import { HOUR, marketplace, nextPeriod, PARAMETERS, STAKE, slashTerms, time, usd } from "../fixture.ts";

// A court that the admin has named, and that asks for what a payer has paid.
async function court() {
  const market = await marketplace();
  const { manager, staking, asAdmin, stranger } = market;
  await asAdmin(manager.grantRole.populateTransaction(ROLES.court, stranger, 0));
  await nextPeriod();
  return { ...market, court: stranger, bench: staking.connect(stranger) };
}

describe("ToolStaking.compensate", () => {
  it("credits the payer all of it, however much more than a penalty it is", async () => {
    const { staking, bench, court: judge, listTool, rival, payer } = await court();
    const rich = await listTool({ owner: rival, stake: usd("1000") });
    await expect(bench.compensate(rich, usd("80"), payer))
      .to.emit(staking, "Compensated")
      .withArgs(rich, judge, payer, usd("80"));
    expect(await staking.creditOf(payer)).to.equal(usd("80"));
    expect((await staking.tool(rich)).stake).to.equal(usd("920"));
  });

  it("credits no more in a day than courts may take, penalties included, and the rest on another", async () => {
    const { staking, bench, payer, tool } = await court();
    await bench.penalize(tool, usd("1"), payer, 0n);
    // A quarter of the 9 USDC that are left, less the penalty.
    expect(await bench.compensate.staticCall(tool, usd("3"), payer)).to.equal(usd("1.25"));
    await bench.compensate(tool, usd("3"), payer);
    await expect(bench.penalize(tool, 1n, payer, 0n)).to.be.revertedWithCustomError(staking, "PenaltyOutOfBounds");
    expect(await bench.compensate.staticCall(tool, 1n, payer)).to.equal(0n);
    await time.increase(32 * HOUR);
    await bench.compensate(tool, usd("1.75"), payer);
    expect(await staking.creditOf(payer)).to.equal(usd("3"));
  });

  it("leaves what a proposed slash asks for, and takes nothing if the parameters say so", async () => {
    const { staking, bench, adjudicator, asAdmin, listTool, rival, payer, tool } = await court();
    const other = await listTool({ owner: rival });
    await staking.connect(adjudicator).proposeSlash(tool, slashTerms({ amount: STAKE }));
    expect(await bench.compensate.staticCall(tool, 1n, payer)).to.equal(0n);
    await asAdmin(staking.setParameters.populateTransaction({ ...PARAMETERS, dailyPenaltyBps: 0n }));
    expect(await bench.compensate.staticCall(other, 1n, payer)).to.equal(0n);
  });

  it("pays the insurance account what it has paid, and no court", async () => {
    const { staking, manager, parts, asAdmin, bench, court: judge, insurance, tool } = await court();
    await bench.compensate(tool, usd("1"), insurance);
    expect(await staking.creditOf(insurance)).to.equal(usd("1"));
    for (const account of parts) {
      await expect(bench.compensate(tool, 1n, account))
        .to.be.revertedWithCustomError(staking, "InvalidRecipient")
        .withArgs(account);
    }
    await expect(bench.compensate(tool, 1n, judge)).to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn");
    await asAdmin(staking.proposeBeneficiary.populateTransaction(judge));
    await bench.acceptBeneficiary();
    await expect(bench.compensate(tool, 1n, judge)).to.be.revertedWithCustomError(staking, "AdjudicatorMustNotEarn");
    const call = staking.interface.encodeFunctionData("compensate", [tool, 1n, judge.address]);
    await expect(manager.connect(judge).execute(staking, call)).to.be.revertedWithCustomError(
      staking,
      "CalledThroughAuthority",
    );
  });
});

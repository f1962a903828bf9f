import { expect } from "chai";
import { ZeroHash } from "ethers";
import { DAY, marketplace, slashTerms, time } from "../fixture.ts";

for (const [verb, by] of [
  ["dismissSlash", "adjudicator"],
  ["vetoSlash", "guardian"],
] as const) {
  describe(`ToolStaking.${verb}`, () => {
    it("ends a proposal before it is executed", async () => {
      const { staking, adjudicator, tool, [by]: party } = await marketplace();
      const terms = slashTerms();
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      const { termsHash } = await staking.slashOf(tool);
      await expect(staking.connect(party)[verb](tool))
        .to.emit(staking, "SlashDropped")
        .withArgs(tool, termsHash, party);
      expect(await staking.slashOf(tool)).to.deep.equal([ZeroHash, 0n, 0n]);
      await time.increase(3 * DAY);
      await expect(staking.connect(adjudicator).executeSlash(tool, terms))
        .to.be.revertedWithCustomError(staking, "NoSlash")
        .withArgs(tool);
    });

    it("refuses when nothing is proposed", async () => {
      const { staking, tool, [by]: party } = await marketplace();
      await expect(staking.connect(party)[verb](tool)).to.be.revertedWithCustomError(staking, "NoSlash").withArgs(tool);
    });
  });
}

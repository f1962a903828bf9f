import { expect } from "chai";
import { ZeroHash } from "ethers";
import type { ToolStaking } from "../../../typechain-types/index.ts";
import { DAY, marketplace, slashTerms, time } from "../fixture.ts";

const dismiss = (staking: ToolStaking, tool: string, _: string) => staking.dismissSlash(tool);
const veto = (staking: ToolStaking, tool: string, termsHash: string) => staking.vetoSlash(tool, termsHash);

for (const [verb, by, drop] of [
  ["dismissSlash", "adjudicator", dismiss],
  ["vetoSlash", "guardian", veto],
] as const) {
  describe(`ToolStaking.${verb}`, () => {
    it("ends a proposal before it is executed", async () => {
      const { staking, adjudicator, tool, [by]: party } = await marketplace();
      const terms = slashTerms();
      await staking.connect(adjudicator).proposeSlash(tool, terms);
      const { termsHash } = await staking.slashOf(tool);
      await expect(drop(staking.connect(party), tool, termsHash))
        .to.emit(staking, "SlashDropped")
        .withArgs(tool, termsHash, party);
      const vetoedUntil = by === "guardian" ? BigInt((await time.latest()) + 8 * DAY) : 0n;
      expect(await staking.slashOf(tool)).to.deep.equal([ZeroHash, 0n, 0n, 0n, 0n, vetoedUntil]);
      await time.increase(3 * DAY);
      await expect(staking.connect(adjudicator).executeSlash(tool, terms))
        .to.be.revertedWithCustomError(staking, "NoSlash")
        .withArgs(tool);
    });

    it("refuses when nothing is proposed", async () => {
      const { staking, tool, [by]: party } = await marketplace();
      await expect(drop(staking.connect(party), tool, ZeroHash))
        .to.be.revertedWithCustomError(staking, "NoSlash")
        .withArgs(tool);
    });
  });
}

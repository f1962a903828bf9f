import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { freshHash, marketplace, STAKE } from "../fixture.ts";

describe("ToolStaking.setPayout", () => {
  it("changes whom later earnings are credited to, and leaves earlier ones where they are", async () => {
    const { staking, router, settle, developer, stranger, payer, tool } = await marketplace();
    await settle([{ payer, lines: [[tool, 100n]] }]);
    await expect(staking.connect(developer).setPayout(tool, stranger))
      .to.emit(staking, "PayoutSet")
      .withArgs(tool, stranger);
    await settle([{ payer, lines: [[tool, 10n]] }]);
    expect(await router.creditOf(developer)).to.equal(90n);
    expect(await router.creditOf(stranger)).to.equal(9n);
  });

  it("refuses nobody as payee", async () => {
    const { staking, developer, tool } = await marketplace();
    await expect(staking.connect(developer).setPayout(tool, ZeroAddress))
      .to.be.revertedWithCustomError(staking, "InvalidPayout")
      .withArgs(ZeroAddress);
  });

  it("refuses every account of the protocol from which nobody could ever claim", async () => {
    const { staking, usdc, parts, fundStake, developer, tool } = await marketplace();
    expect(parts).to.have.length(7);
    for (const mute of [usdc, ...parts]) {
      await expect(staking.connect(developer).setPayout(tool, mute))
        .to.be.revertedWithCustomError(staking, "InvalidPayout")
        .withArgs(mute);
      await fundStake(developer, STAKE);
      await expect(staking.connect(developer).list(freshHash(), 0n, mute, STAKE))
        .to.be.revertedWithCustomError(staking, "InvalidPayout")
        .withArgs(mute);
    }
  });

  it("is the owner's alone", async () => {
    const { staking, listTool, developer, stranger } = await marketplace();
    const tool = await listTool({ payout: stranger });
    await expect(staking.connect(stranger).setPayout(tool, stranger))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).setPayout(unlisted, developer))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });
});

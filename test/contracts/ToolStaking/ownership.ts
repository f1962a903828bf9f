import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { DAY, ethers, freshHash, marketplace, STAKE, time } from "../fixture.ts";

describe("ToolStaking.transferOwnership", () => {
  it("offers the tool and changes nothing yet", async () => {
    const { staking, developer, rival, tool } = await marketplace();
    await expect(staking.connect(developer).transferOwnership(tool, rival))
      .to.emit(staking, "OwnershipTransferStarted")
      .withArgs(tool, developer, rival);
    const { owner, pendingOwner } = await staking.tool(tool);
    expect(owner).to.equal(developer);
    expect(pendingOwner).to.equal(rival);
  });

  it("replaces an earlier offer", async () => {
    const { staking, developer, rival, stranger, tool } = await marketplace();
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(developer).transferOwnership(tool, stranger);
    await expect(staking.connect(rival).acceptOwnership(tool))
      .to.be.revertedWithCustomError(staking, "NotPendingOwner")
      .withArgs(rival, stranger);
  });

  it("takes an offer back with zero", async () => {
    const { staking, developer, rival, tool } = await marketplace();
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(developer).transferOwnership(tool, ZeroAddress);
    await expect(staking.connect(rival).acceptOwnership(tool))
      .to.be.revertedWithCustomError(staking, "NotPendingOwner")
      .withArgs(rival, ZeroAddress);
  });

  it("is the owner's alone", async () => {
    const { staking, developer, stranger, tool } = await marketplace();
    await expect(staking.connect(stranger).transferOwnership(tool, stranger))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(stranger, developer);
  });

  it("refuses a tool that is not listed", async () => {
    const { staking, developer, rival } = await marketplace();
    const unlisted = await staking.toolIdOf(developer, freshHash());
    await expect(staking.connect(developer).transferOwnership(unlisted, rival))
      .to.be.revertedWithCustomError(staking, "ToolNotListed")
      .withArgs(unlisted);
  });
});

describe("ToolStaking.acceptOwnership", () => {
  it("makes the one to whom it was offered the owner", async () => {
    const { staking, developer, rival, tool } = await marketplace();
    await staking.connect(developer).transferOwnership(tool, rival);
    await expect(staking.connect(rival).acceptOwnership(tool))
      .to.emit(staking, "OwnershipTransferred")
      .withArgs(tool, developer, rival);
    const { owner, pendingOwner } = await staking.tool(tool);
    expect(owner).to.equal(rival);
    expect(pendingOwner).to.equal(ZeroAddress);
    await expect(staking.connect(developer).setPrice(tool, 1n))
      .to.be.revertedWithCustomError(staking, "NotOwner")
      .withArgs(developer, rival);
  });

  it("brings the stake and the running withdrawal along", async () => {
    const { staking, usdc, developer, rival, tool } = await marketplace();
    await staking.connect(developer).requestWithdrawal(tool, STAKE);
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(rival).acceptOwnership(tool);
    await time.increase(7 * DAY);
    await expect(staking.connect(rival).withdraw(tool, rival)).to.changeTokenBalance(ethers, usdc, rival, STAKE);
  });

  it("leaves the payout where it was until the new owner changes it", async () => {
    const { staking, developer, rival, tool } = await marketplace();
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(rival).acceptOwnership(tool);
    expect((await staking.earner(tool)).payee).to.equal(developer);
  });

  it("keeps the id from being listed again by the one who had it first", async () => {
    const { staking, listTool, developer, rival } = await marketplace();
    const salt = freshHash();
    const tool = await listTool({ salt });
    await staking.connect(developer).transferOwnership(tool, rival);
    await staking.connect(rival).acceptOwnership(tool);
    await expect(listTool({ salt })).to.be.revertedWithCustomError(staking, "ToolAlreadyListed").withArgs(tool);
  });

  it("refuses whoever was offered nothing", async () => {
    const { staking, stranger, tool } = await marketplace();
    await expect(staking.connect(stranger).acceptOwnership(tool))
      .to.be.revertedWithCustomError(staking, "NotPendingOwner")
      .withArgs(stranger, ZeroAddress);
  });
});

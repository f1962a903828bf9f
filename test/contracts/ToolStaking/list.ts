import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";
import { freshHash, marketplace, PRICE, STAKE, usd } from "../fixture.ts";

const PANIC_OVERFLOW = 0x11;
const TOO_LARGE = 2n ** 48n;

describe("ToolStaking.list", () => {
  it("lists a tool under the id of its owner and salt, and takes its stake", async () => {
    const { staking, usdc, fundStake, developer, stranger } = await marketplace();
    const salt = freshHash();
    const toolId = await staking.toolIdOf(developer, salt);
    await fundStake(developer, STAKE);
    const listing = staking.connect(developer).list(salt, PRICE, stranger, STAKE);
    await expect(listing).to.emit(staking, "ToolListed").withArgs(toolId, developer, salt);
    await expect(listing).to.emit(staking, "PriceSet").withArgs(toolId, PRICE);
    await expect(listing).to.emit(staking, "PayoutSet").withArgs(toolId, stranger);
    await expect(listing).to.emit(staking, "Staked").withArgs(toolId, developer, STAKE, STAKE);
    await expect(listing).to.emit(usdc, "Transfer").withArgs(developer, staking, STAKE);
    expect(await staking.tool(toolId)).to.deep.equal([
      stranger.address,
      STAKE,
      PRICE,
      developer.address,
      0n,
      0n,
      ZeroAddress,
    ]);
  });

  it("tells the caller the id beforehand", async () => {
    const { staking, fundStake, developer } = await marketplace();
    const salt = freshHash();
    await fundStake(developer, STAKE);
    const toolId = await staking.connect(developer).list.staticCall(salt, PRICE, developer, STAKE);
    expect(toolId).to.equal(await staking.toolIdOf(developer, salt));
  });

  it("asks the minimum stake even of a tool that is free", async () => {
    const { staking, listTool } = await marketplace();
    await expect(listTool({ price: 0n, stake: STAKE - 1n }))
      .to.be.revertedWithCustomError(staking, "StakeTooLow")
      .withArgs(STAKE - 1n, STAKE);
    await listTool({ price: 0n, stake: STAKE });
  });

  it("asks a hundred times the price of a tool that is dear", async () => {
    const { staking, listTool } = await marketplace();
    await expect(listTool({ price: usd("0.25"), stake: usd("25") - 1n }))
      .to.be.revertedWithCustomError(staking, "StakeTooLow")
      .withArgs(usd("25") - 1n, usd("25"));
    await listTool({ price: usd("0.25"), stake: usd("25") });
  });

  it("refuses the same owner and salt again", async () => {
    const { staking, listTool } = await marketplace();
    const salt = freshHash();
    const toolId = await listTool({ salt });
    await expect(listTool({ salt })).to.be.revertedWithCustomError(staking, "ToolAlreadyListed").withArgs(toolId);
  });

  it("gives two owners two tools for the same salt", async () => {
    const { listTool, developer, rival } = await marketplace();
    const salt = freshHash();
    expect(await listTool({ owner: developer, salt })).not.to.equal(await listTool({ owner: rival, salt }));
  });

  it("refuses to pay nobody", async () => {
    const { staking, listTool } = await marketplace();
    await expect(listTool({ payout: { address: ZeroAddress } }))
      .to.be.revertedWithCustomError(staking, "InvalidPayout")
      .withArgs(ZeroAddress);
  });

  it("lists nothing when the stake cannot be taken", async () => {
    const { staking, developer } = await marketplace();
    const salt = freshHash();
    await expect(staking.connect(developer).list(salt, PRICE, developer, STAKE)).to.be.revertedWith(
      "ERC20: transfer amount exceeds allowance",
    );
    expect((await staking.tool(await staking.toolIdOf(developer, salt))).owner).to.equal(ZeroAddress);
  });

  it("refuses numbers that a listing has no room for, instead of cutting them", async () => {
    const { staking, developer } = await marketplace();
    const list = (price: bigint, stake: bigint) =>
      staking.connect(developer).list(freshHash(), price, developer, stake);
    await expect(list(TOO_LARGE, TOO_LARGE * 100n))
      .to.be.revertedWithCustomError(staking, "SafeCastOverflowedUintDowncast")
      .withArgs(48, TOO_LARGE);
    await expect(list(PRICE, TOO_LARGE))
      .to.be.revertedWithCustomError(staking, "SafeCastOverflowedUintDowncast")
      .withArgs(48, TOO_LARGE);
    await expect(list(MaxUint256, STAKE)).to.be.revertedWithPanic(PANIC_OVERFLOW);
  });
});

describe("ToolStaking.toolIdOf", () => {
  it("is a UUID of version 8 and of the usual variant, whatever the salt", async () => {
    const { staking, developer } = await marketplace();
    for (let count = 0; count < 20; count += 1) {
      expect(await staking.toolIdOf(developer, freshHash())).to.match(/^0x[0-9a-f]{12}8[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    }
  });
});

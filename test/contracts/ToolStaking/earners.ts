import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { freshHash, marketplace, STAKE, usd } from "../fixture.ts";

const LIMIT = 100n * STAKE;

const packed = (payee: { address: string }, limit: bigint) => (BigInt(payee.address) << 96n) | limit;

describe("ToolStaking.earners", () => {
  it("names each tool's payee and limit in the order asked, and nothing for a tool that may not be paid", async () => {
    const { staking, listTool, developer, rival, stranger, tool } = await marketplace();
    const withPayout = await listTool({ owner: rival, payout: stranger, stake: STAKE + usd("1") });
    const underStaked = await listTool({ owner: rival });
    await staking.connect(rival).requestWithdrawal(underStaked, 1n);
    const unlisted = await staking.toolIdOf(developer, freshHash());
    expect(await staking.earners([unlisted, withPayout, tool, underStaked, tool])).to.deep.equal([
      0n,
      packed(stranger, LIMIT + usd("100")),
      packed(developer, LIMIT),
      0n,
      packed(developer, LIMIT),
    ]);
  });

  it("names nobody when nothing is asked", async () => {
    const { staking } = await marketplace();
    expect(await staking.earners([])).to.deep.equal([]);
  });
});

describe("ToolStaking.earner", () => {
  it("agrees with earners, tool by tool", async () => {
    const { staking, listTool, developer, stranger, tool } = await marketplace();
    const underStaked = await listTool();
    await staking.connect(developer).requestWithdrawal(underStaked, 1n);
    const payable = await listTool({ payout: stranger });
    expect(await staking.earner(tool)).to.deep.equal([developer.address, LIMIT]);
    expect(await staking.earner(payable)).to.deep.equal([stranger.address, LIMIT]);
    for (const none of [underStaked, await staking.toolIdOf(stranger, freshHash())]) {
      expect(await staking.earner(none)).to.deep.equal([ZeroAddress, 0n]);
    }
  });
});

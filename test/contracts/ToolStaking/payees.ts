import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { freshHash, marketplace } from "../fixture.ts";

describe("ToolStaking.payees", () => {
  it("names each tool's payee in the order asked, and nobody for a tool that may not be paid", async () => {
    const { staking, listTool, developer, rival, stranger, tool } = await marketplace();
    const withPayout = await listTool({ owner: rival, payout: stranger });
    const underStaked = await listTool({ owner: rival });
    await staking.connect(rival).requestWithdrawal(underStaked, 1n);
    const unlisted = await staking.toolIdOf(developer, freshHash());
    expect(await staking.payees([unlisted, withPayout, tool, underStaked, tool])).to.deep.equal([
      ZeroAddress,
      stranger.address,
      developer.address,
      ZeroAddress,
      developer.address,
    ]);
  });

  it("names nobody when nothing is asked", async () => {
    const { staking } = await marketplace();
    expect(await staking.payees([])).to.deep.equal([]);
  });
});

describe("ToolStaking.payee", () => {
  it("agrees with payees, tool by tool", async () => {
    const { staking, listTool, developer, stranger, tool } = await marketplace();
    const underStaked = await listTool();
    await staking.connect(developer).requestWithdrawal(underStaked, 1n);
    const tools = [
      tool,
      underStaked,
      await listTool({ payout: stranger }),
      await staking.toolIdOf(stranger, freshHash()),
    ];
    expect(await Promise.all(tools.map((toolId) => staking.payee(toolId)))).to.deep.equal(await staking.payees(tools));
  });
});

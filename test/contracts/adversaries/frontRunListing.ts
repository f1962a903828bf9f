import { expect } from "chai";
import { ethers, freshHash, marketplace, networkHelpers, PRICE, provider, STAKE } from "../fixture.ts";

describe("a thief who copies a listing out of the mempool", () => {
  it("gets another id, even when it is mined first, and the developer is listed as planned", async () => {
    const { staking, fundStake, developer, rival: thief } = await marketplace();
    const salt = freshHash();
    await fundStake(developer, STAKE);
    await fundStake(thief, STAKE);
    await provider.request({ method: "evm_setAutomine", params: [false] });
    try {
      const list = (by: typeof thief, tip: bigint) =>
        staking.connect(by).list(salt, PRICE, by, STAKE, {
          gasLimit: 500_000n,
          maxPriorityFeePerGas: tip,
          maxFeePerGas: ethers.parseUnits("100", "gwei"),
        });
      const planned = await list(developer, 1n);
      const copied = await list(thief, ethers.parseUnits("50", "gwei"));
      await networkHelpers.mine();
      const [first, second] = [await copied.wait(), await planned.wait()];
      expect(first?.blockNumber).to.equal(second?.blockNumber);
      expect([first?.index, second?.index]).to.deep.equal([0, 1]);
    } finally {
      await provider.request({ method: "evm_setAutomine", params: [true] });
    }
    expect((await staking.tool(await staking.toolIdOf(developer, salt))).owner).to.equal(developer);
    expect((await staking.tool(await staking.toolIdOf(thief, salt))).owner).to.equal(thief);
  });
});

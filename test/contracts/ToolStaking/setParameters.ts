import { expect } from "chai";
import { marketplace, STAKE, usd } from "../fixture.ts";

const USUAL = { minimumStake: usd("10"), stakeMultiplier: 100n, bountyBps: 1000n };

describe("ToolStaking.setParameters", () => {
  it("puts new parameters in force", async () => {
    const { staking, asAdmin } = await marketplace();
    const parameters = { minimumStake: usd("20"), stakeMultiplier: 50n, bountyBps: 500n };
    await expect(asAdmin(staking.setParameters.populateTransaction(parameters)))
      .to.emit(staking, "ParametersSet")
      .withArgs([usd("20"), 50n, 500n]);
    expect(await staking.parameters()).to.deep.equal([usd("20"), 50n, 500n]);
  });

  const bounds = {
    minimumStake: [usd("1"), usd("10000")],
    stakeMultiplier: [1n, 1000n],
    bountyBps: [0n, 3000n],
  } as const;

  for (const name of Object.keys(bounds) as (keyof typeof bounds)[]) {
    const [min, max] = bounds[name];

    it(`allows ${name} from ${min} to ${max}`, async () => {
      const { staking, asAdmin } = await marketplace();
      for (const value of [min, max]) {
        await asAdmin(staking.setParameters.populateTransaction({ ...USUAL, [name]: value }));
        expect((await staking.parameters())[name]).to.equal(value);
      }
    });

    for (const value of [min - 1n, max + 1n].filter((bound) => bound >= 0n)) {
      it(`refuses ${value} as ${name}`, async () => {
        const { staking, asAdmin } = await marketplace();
        await expect(asAdmin(staking.setParameters.populateTransaction({ ...USUAL, [name]: value })))
          .to.be.revertedWithCustomError(staking, "ParameterOutOfBounds")
          .withArgs(value, min, max);
      });
    }
  }
});

describe("ToolStaking.requiredStake", () => {
  it("is the larger of the minimum and the multiple of the price", async () => {
    const { staking } = await marketplace();
    expect(await staking.requiredStake(0n)).to.equal(STAKE);
    expect(await staking.requiredStake(usd("0.10"))).to.equal(STAKE);
    expect(await staking.requiredStake(usd("0.10") + 1n)).to.equal(STAKE + 100n);
  });

  it("follows the parameters", async () => {
    const { staking, asAdmin } = await marketplace();
    const parameters = { minimumStake: usd("1"), stakeMultiplier: 1000n, bountyBps: 0n };
    await asAdmin(staking.setParameters.populateTransaction(parameters));
    expect(await staking.requiredStake(0n)).to.equal(usd("1"));
    expect(await staking.requiredStake(usd("1"))).to.equal(usd("1000"));
  });
});

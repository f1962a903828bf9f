import { expect } from "chai";
import { PARAMETERS as TABLE } from "../../../scripts/protocol/parameters.ts";
import { marketplace, PARAMETERS, STAKE, usd } from "../fixture.ts";

describe("ToolStaking.setParameters", () => {
  it("puts new parameters in force", async () => {
    const { staking, asAdmin } = await marketplace();
    const parameters = {
      ...PARAMETERS,
      minimumStake: usd("20"),
      stakeMultiplier: 50n,
      bountyBps: 500n,
      earningMultiple: 10n,
    };
    await expect(asAdmin(staking.setParameters.populateTransaction(parameters)))
      .to.emit(staking, "ParametersSet")
      .withArgs(Object.values(parameters));
    expect(await staking.parameters()).to.deep.equal(Object.values(parameters));
  });

  const bounds = {
    minimumStake: [usd("1"), usd("10000")],
    stakeMultiplier: [1n, 1000n],
    bountyBps: [0n, 3000n],
    maxPenalty: [0n, usd("100")],
    dailyPenaltyBps: [0n, 5000n],
    earningMultiple: [1n, 1000n],
  } as const;

  it("has the bounds that the commands know", () => {
    for (const [name, [min, max]] of Object.entries(bounds)) {
      const { min: knownMin, max: knownMax } = TABLE[name as keyof typeof TABLE];
      expect([knownMin, knownMax], name).to.deep.equal([min, max]);
    }
  });

  for (const name of Object.keys(bounds) as (keyof typeof bounds)[]) {
    const [min, max] = bounds[name];

    it(`allows ${name} from ${min} to ${max}`, async () => {
      const { staking, asAdmin } = await marketplace();
      for (const value of [min, max]) {
        await asAdmin(staking.setParameters.populateTransaction({ ...PARAMETERS, [name]: value }));
        expect((await staking.parameters())[name]).to.equal(value);
      }
    });

    for (const value of [min - 1n, max + 1n].filter((bound) => bound >= 0n)) {
      it(`refuses ${value} as ${name}`, async () => {
        const { staking, asAdmin } = await marketplace();
        await expect(asAdmin(staking.setParameters.populateTransaction({ ...PARAMETERS, [name]: value })))
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
    const parameters = { ...PARAMETERS, minimumStake: usd("1"), stakeMultiplier: 1000n };
    await asAdmin(staking.setParameters.populateTransaction(parameters));
    expect(await staking.requiredStake(0n)).to.equal(usd("1"));
    expect(await staking.requiredStake(usd("1"))).to.equal(usd("1000"));
  });
});

import { expect } from "chai";
import { ZeroAddress } from "ethers";
import { ContextRouter__factory } from "../../../typechain-types/index.ts";
import { marketplace, usd } from "../fixture.ts";

describe("ContextRouter's constructor", () => {
  it("takes the token from the registry, so that both count in the same money", async () => {
    const { router, staking, bonds, usdc, treasury, manager } = await marketplace();
    expect(await router.staking()).to.equal(staking);
    expect(await router.bonds()).to.equal(bonds);
    expect(await router.usdc()).to.equal(usdc);
    expect(await router.treasury()).to.equal(treasury);
    expect(await router.authority()).to.equal(manager);
    expect(await router.MAX_OPERATOR_LIMIT()).to.equal(usd("1000000"));
  });

  it("refuses to have no treasury", async () => {
    const { deployer, router, manager, staking, bonds } = await marketplace();
    await expect(new ContextRouter__factory(deployer).deploy(manager, staking, bonds, ZeroAddress))
      .to.be.revertedWithCustomError(router, "InvalidBeneficiary")
      .withArgs(ZeroAddress);
  });
});

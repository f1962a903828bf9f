import { expect } from "chai";
import { MaxUint256 } from "ethers";
import { FAILURE, freshHash, marketplace, usd } from "../fixture.ts";

describe("ContextRouter.setDailyCap", () => {
  it("limits the caller, and nobody else", async () => {
    const { router, payer, neighbour } = await marketplace();
    await expect(router.connect(payer).setDailyCap(usd("10")))
      .to.emit(router, "DailyCapSet")
      .withArgs(payer, usd("10"));
    expect(await router.dailyCap(payer)).to.deep.equal([usd("10"), usd("10")]);
    expect(await router.dailyCap(neighbour)).to.deep.equal([0n, MaxUint256]);
  });

  it("still counts what was taken before the cap was changed", async () => {
    const { router, settle, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("10"));
    await settle([{ payer, lines: [[tool, usd("7")]] }]);
    await router.connect(payer).setDailyCap(usd("8"));
    expect((await router.dailyCap(payer)).left).to.equal(usd("1"));
  });

  it("leaves nothing when the cap falls below what was taken", async () => {
    const { router, settle, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("10"));
    await settle([{ payer, lines: [[tool, usd("7")]] }]);
    await router.connect(payer).setDailyCap(usd("5"));
    expect(await router.dailyCap(payer)).to.deep.equal([usd("5"), 0n]);
    const batchId = freshHash();
    await expect(settle([{ payer, lines: [[tool, 1n]] }], { batchId }))
      .to.emit(router, "ChargeFailed")
      .withArgs(batchId, payer, 0, 1n, FAILURE.dailyCap);
  });

  it("refuses zero, which could mean that nothing may be taken or that anything may", async () => {
    const { router, payer } = await marketplace();
    await expect(router.connect(payer).setDailyCap(0n)).to.be.revertedWithCustomError(router, "ZeroAmount");
  });
});

describe("ContextRouter.liftDailyCap", () => {
  it("lifts the limit", async () => {
    const { router, settle, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("1"));
    await expect(router.connect(payer).liftDailyCap()).to.emit(router, "DailyCapSet").withArgs(payer, 0n);
    await expect(settle([{ payer, lines: [[tool, usd("2")]] }])).not.to.emit(router, "ChargeFailed");
    expect(await router.dailyCap(payer)).to.deep.equal([0n, MaxUint256]);
  });
});

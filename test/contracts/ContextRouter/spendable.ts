import { expect } from "chai";
import { MaxUint256 } from "ethers";
import { FUNDS, marketplace, usd } from "../fixture.ts";

describe("ContextRouter.spendable", () => {
  it("is the balance when that is the least", async () => {
    const { router, usdc, payer } = await marketplace();
    await usdc.connect(payer).approve(router, MaxUint256);
    expect(await router.spendable(payer)).to.deep.equal([FUNDS, FUNDS, MaxUint256, MaxUint256, 0n, false]);
  });

  it("is the allowance when that is the least", async () => {
    const { router, usdc, payer } = await marketplace();
    await usdc.connect(payer).approve(router, usd("5"));
    expect(await router.spendable(payer)).to.deep.equal([usd("5"), FUNDS, usd("5"), MaxUint256, 0n, false]);
  });

  it("is what is left of the daily cap when that is the least", async () => {
    const { router, settle, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("3"));
    await settle([{ payer, lines: [[tool, usd("1")]] }]);
    const rest = FUNDS - usd("1");
    expect(await router.spendable(payer)).to.deep.equal([usd("2"), rest, rest, usd("2"), 0n, false]);
  });

  it("is nothing for a payer whom the token has blacklisted", async () => {
    const { router, usdc, payer } = await marketplace();
    await usdc.blacklist(payer);
    expect(await router.spendable(payer)).to.deep.equal([0n, FUNDS, FUNDS, MaxUint256, 0n, false]);
  });

  it("is nothing for anybody while the router is paused", async () => {
    const { router, guardian, payer } = await marketplace();
    await router.connect(guardian).pause();
    expect((await router.spendable(payer)).amount).to.equal(0n);
  });

  it("is nothing for anybody while the token is paused", async () => {
    const { router, usdc, payer } = await marketplace();
    await usdc.pause();
    expect((await router.spendable(payer)).amount).to.equal(0n);
  });

  it("is nothing for anybody while the token has blacklisted the router", async () => {
    const { router, usdc, payer } = await marketplace();
    await usdc.blacklist(router);
    expect((await router.spendable(payer)).amount).to.equal(0n);
  });

  it("is exactly what a settlement can take", async () => {
    const { router, usdc, settle, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("3"));
    await usdc.connect(payer).approve(router, usd("2"));
    const { amount } = await router.spendable(payer);
    await expect(settle([{ payer, lines: [[tool, amount + 1n]] }])).to.emit(router, "ChargeFailed");
    await expect(settle([{ payer, lines: [[tool, amount]] }])).not.to.emit(router, "ChargeFailed");
  });
});

describe("ContextRouter.spendableMany", () => {
  it("answers for each payer in the order asked", async () => {
    const { router, fund, payer, neighbour, stranger } = await marketplace();
    await fund(neighbour, usd("7"), usd("4"));
    expect(await router.spendableMany([neighbour, stranger, payer])).to.deep.equal([
      [usd("4"), usd("7"), usd("4"), MaxUint256, 0n, false],
      [0n, 0n, 0n, MaxUint256, 0n, false],
      [FUNDS, FUNDS, FUNDS, MaxUint256, 0n, false],
    ]);
  });

  it("answers nothing to nobody", async () => {
    const { router } = await marketplace();
    expect(await router.spendableMany([])).to.deep.equal([]);
  });
});

import { expect } from "chai";
import { ID, signed } from "../ContextRouter/signBudget.ts";
import {
  FAILURE,
  freshHash,
  HOUR,
  type Marketplace,
  marketplace,
  nextPeriod,
  OPERATOR_LIMIT,
  REFUSAL,
  STAKE,
  time,
  usd,
} from "../fixture.ts";

const HOURS_OBSERVED = 80;

// The thief takes all it can get, every hour. Returns what it got in each hour.
async function plunder({ router, settle, operator: thief, payer }: Marketplace): Promise<bigint[]> {
  const start = await nextPeriod();
  const takings: bigint[] = [];
  for (let hour = 0; hour < HOURS_OBSERVED; hour += 1) {
    await time.increaseTo(start + hour * HOUR + HOUR / 2);
    const { left } = await router.operatorLimit(thief);
    // A thief with a plan takes a part now and the rest later, so that as much as possible falls into one day.
    const amount = hour % 7 === 3 ? left : left / 3n;
    if (amount > 0n) await settle([{ payer, modelCost: amount }], { by: thief });
    takings.push(amount);
  }
  return takings;
}

const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

describe("a thief with an operator's key", () => {
  it("can take exactly the operator's limit, and not one unit more", async () => {
    const { router, usdc, settle, fund, operator: thief, payer, tool } = await marketplace();
    await fund(payer, 10n * OPERATOR_LIMIT);
    await settle([{ payer, modelCost: OPERATOR_LIMIT }], { by: thief });
    for (const charge of [
      { payer, lines: [[tool, 1n]] as const },
      { payer, modelCost: 1n },
    ]) {
      await expect(settle([charge], { by: thief }))
        .to.be.revertedWithCustomError(router, "OperatorLimitExceeded")
        .withArgs(1n, 0n);
    }
    expect(await usdc.balanceOf(router)).to.equal(OPERATOR_LIMIT);
  });

  it("gets no more than the limit out of any 24 hours, however it spreads its batches", async () => {
    const market = await marketplace();
    await market.fund(market.payer, 10n * OPERATOR_LIMIT);
    const takings = await plunder(market);
    const days = takings.map((_, hour) => sum(takings.slice(hour, hour + 24)));
    for (const day of days) expect(day <= OPERATOR_LIMIT).to.equal(true);
    // The limit was really reached, so the bound above is not an empty one.
    expect(days).to.include(OPERATOR_LIMIT);
  });

  it("takes nothing beyond a payer's allowance", async () => {
    const { router, usdc, settle, operator: thief, neighbour, tool } = await marketplace();
    await usdc.mint(neighbour, usd("100"));
    await usdc.connect(neighbour).approve(router, usd("7"));
    const batchId = freshHash();
    await expect(settle([{ payer: neighbour, lines: [[tool, usd("7") + 1n]] }], { batchId, by: thief }))
      .to.emit(router, "ChargeFailed")
      .withArgs(batchId, neighbour, 0, usd("7") + 1n, FAILURE.allowance);
    await settle([{ payer: neighbour, lines: [[tool, usd("7")]] }], { by: thief });
    await settle([{ payer: neighbour, lines: [[tool, 1n]] }], { by: thief });
    expect(await usdc.balanceOf(neighbour)).to.equal(usd("93"));
  });

  it("takes nothing beyond a payer's daily cap, in however many batches", async () => {
    const { router, usdc, settle, operator: thief, payer, tool } = await marketplace();
    await router.connect(payer).setDailyCap(usd("3"));
    const before = await usdc.balanceOf(payer);
    const sip = { payer, lines: [[tool, usd("1")]] as const };
    for (let attempt = 0; attempt < 5; attempt++) await settle([sip], { by: thief });
    expect(await usdc.balanceOf(payer)).to.equal(before - usd("3"));
  });

  it("takes of a payer who demands consent what it has signed, out of its wallet and its prepaid balance together", async () => {
    const market = await marketplace();
    const { router, usdc, settle, operator: thief, payer, stranger, tool } = market;
    await router.connect(payer).deposit(usd("10"));
    await router.connect(payer).setConsentRequired(true);
    const before = await usdc.balanceOf(payer);
    const budget = await signed(market, { maxSpend: usd("3") });
    const forged = await signed(market, { maxSpend: usd("100"), by: stranger });
    const sip = { payer, lines: [[tool, usd("1")]] as const };
    for (const row of [
      sip,
      { ...sip, prepaid: true },
      { ...sip, budget: forged },
      { ...sip, budget },
      { ...sip, budget: { id: ID }, prepaid: true },
      { ...sip, budget: { id: ID } },
      { ...sip, budget, prepaid: true },
      { ...sip, budget: { id: ID + 1n } },
    ]) {
      await settle([row], { by: thief });
    }
    expect(await usdc.balanceOf(payer)).to.equal(before - usd("2"));
    expect((await router.prepaidOf(payer)).balance).to.equal(usd("9"));
  });

  it("cannot lift a payer's cap, its own limit or its own suspension", async () => {
    const { manager, router, operator: thief, payer } = await marketplace();
    await router.connect(payer).setDailyCap(usd("3"));
    await router.connect(thief).liftDailyCap();
    expect((await router.dailyCap(payer)).cap).to.equal(usd("3"));
    await expect(router.connect(thief).setOperatorLimit(thief, usd("1000000")))
      .to.be.revertedWithCustomError(router, "AccessManagedUnauthorized")
      .withArgs(thief);
    const { to, data } = await router.setOperatorLimit.populateTransaction(thief, usd("1000000"));
    await expect(manager.connect(thief).schedule(to, data, 0))
      .to.be.revertedWithCustomError(manager, "AccessManagerUnauthorizedCall")
      .withArgs(thief, router, data.slice(0, 10));
  });

  it("can pay staked tools and the treasury only, never an address of its choice", async () => {
    const { router, usdc, settle, staking, treasury, operator: thief, developer, payer, tool } = await marketplace();
    const own = await staking.toolIdOf(thief, freshHash());
    const batchId = freshHash();
    const theft = settle(
      [
        {
          payer,
          modelCost: usd("1"),
          lines: [
            [own, usd("100")],
            [tool, usd("10")],
          ],
        },
      ],
      { batchId, by: thief },
    );
    await expect(theft).to.emit(router, "ToolRefused").withArgs(batchId, own, REFUSAL.unlisted);
    expect(await router.creditOf(thief)).to.equal(0n);
    expect(await router.creditOf(developer)).to.equal(usd("9"));
    expect(await router.creditOf(treasury)).to.equal(usd("2"));
    expect(await usdc.balanceOf(router)).to.equal(usd("11"));
  });

  it("who lists a tool of its own leaves a stake behind that can be slashed", async () => {
    const { router, staking, settle, listTool, operator: thief, payer } = await marketplace();
    const own = await listTool({ owner: thief });
    await settle([{ payer, lines: [[own, usd("5")]] }], { by: thief });
    expect(await router.creditOf(thief)).to.equal(usd("4.5"));
    expect((await staking.tool(own)).stake).to.equal(STAKE);
    await staking.connect(thief).requestWithdrawal(own, STAKE);
    await expect(settle([{ payer, lines: [[own, usd("5")]] }], { by: thief })).to.emit(router, "LinesRefused");
  });

  it("gets nothing any more once the guardian has suspended it", async () => {
    const { router, usdc, settle, guardian, operator: thief, payer, tool } = await marketplace();
    await router.connect(guardian).suspendOperator(thief);
    await expect(settle([{ payer, lines: [[tool, 1n]] }], { by: thief }))
      .to.be.revertedWithCustomError(router, "NotOperator")
      .withArgs(thief);
    expect(await usdc.balanceOf(router)).to.equal(0n);
  });

  it("gets nothing any more once the guardian has paused the router", async () => {
    const { router, usdc, settle, guardian, operator: thief, payer, tool } = await marketplace();
    await router.connect(guardian).pause();
    await expect(settle([{ payer, lines: [[tool, 1n]] }], { by: thief })).to.be.revertedWithCustomError(
      router,
      "EnforcedPause",
    );
    expect(await usdc.balanceOf(router)).to.equal(0n);
  });
});

import { expect } from "chai";
import { ZeroHash } from "ethers";
import type { Address } from "viem";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { freshHash, HOUR, marketplace, nextPeriod, REFUSAL, refusedLines, STAKE, time, usd } from "../fixture.ts";

const LIMIT = 100n * STAKE;

describe("what a stake lets its tool earn in any 24 hours", () => {
  it("is not exceeded by a tool listed at no price, whatever an operator reports for it", async () => {
    const { router, settle, fund, listTool, developer, rival, payer, neighbour } = await marketplace();
    await fund(payer, 10n * LIMIT);
    await fund(neighbour, 1n);
    const free = await listTool({ owner: rival, price: 0n });
    const batchId = freshHash();
    const settlement = settle(
      [
        { payer, lines: [[free, LIMIT]] },
        { payer: neighbour, modelCost: 1n, lines: [[free, 1n]] },
      ],
      { batchId },
    );
    await expect(settlement).to.emit(router, "ToolRefused").withArgs(batchId, free, REFUSAL.earningCap);
    await expect(settlement)
      .to.emit(router, "LinesRefused")
      .withArgs(batchId, neighbour, 35, refusedLines([free, 1n]));
    expect(await router.creditOf(rival)).to.equal((LIMIT * 9n) / 10n);
    expect(await router.creditOf(developer)).to.equal(0n);
    expect(await router.earningsLeft(free)).to.equal(0n);
  });

  it("is not multiplied by naming a tool more than once in a batch", async () => {
    const { router, fund, operator, payer, tool } = await marketplace();
    await fund(payer, 3n * LIMIT);
    const row = { payer: payer.address as Address, modelCost: 0n };
    const lines = [0, 1].map((toolIndex) => ({ toolIndex, amount: LIMIT }));
    await expect(router.connect(operator).settle(ZeroHash, freshHash(), [tool, tool], encodeRows([{ ...row, lines }])))
      .to.be.revertedWithCustomError(router, "ToolRepeated")
      .withArgs(tool);
  });

  it("comes back after 32 hours at the most", async () => {
    const { router, settle, fund, payer, tool } = await marketplace();
    await fund(payer, 3n * LIMIT);
    const start = await nextPeriod();
    await settle([{ payer, lines: [[tool, LIMIT]] }]);
    await time.increaseTo(start + 24 * HOUR - 1);
    expect(await router.earningsLeft(tool)).to.equal(0n);
    await time.increaseTo(start + 32 * HOUR);
    await expect(settle([{ payer, lines: [[tool, LIMIT]] }])).not.to.emit(router, "LinesRefused");
  });

  it("is left to others by a row that fails", async () => {
    const { router, settle, fund, stranger, payer, tool } = await marketplace();
    await fund(payer, LIMIT);
    await expect(
      settle([
        { payer: stranger, lines: [[tool, LIMIT]] },
        { payer, lines: [[tool, LIMIT]] },
      ]),
    ).not.to.emit(router, "LinesRefused");
    expect(await router.earningsLeft(tool)).to.equal(0n);
  });

  it("grows with the stake, and shrinks when stake is asked back", async () => {
    const { router, staking, listTool, developer } = await marketplace();
    const tool = await listTool({ stake: STAKE + usd("2") });
    expect(await router.earningsLeft(tool)).to.equal(LIMIT + usd("200"));
    await staking.connect(developer).requestWithdrawal(tool, usd("2"));
    expect(await router.earningsLeft(tool)).to.equal(LIMIT);
  });

  it("holds for direct payments too", async () => {
    const { router, fund, payer, tool } = await marketplace();
    await fund(payer, 2n * LIMIT);
    await expect(router.connect(payer).pay(tool, LIMIT + 1n, 0n))
      .to.be.revertedWithCustomError(router, "EarningCapExceeded")
      .withArgs(LIMIT + 1n, LIMIT);
    await router.connect(payer).pay(tool, LIMIT, 0n);
    expect(await router.earningsLeft(tool)).to.equal(0n);
  });
});

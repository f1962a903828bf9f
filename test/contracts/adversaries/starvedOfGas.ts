import { expect } from "chai";
import { ZeroHash } from "ethers";
import { ethers, freshHash, marketplace, packBatch, usd } from "../fixture.ts";

const INTRINSIC_GAS = 21_000n;

describe("an operator who starves the transfer of gas", () => {
  it("cannot make a row fail whose payer could pay, with any amount of gas", async () => {
    const { router, fund, operator, payer, neighbour, tool } = await marketplace();
    await fund(neighbour, usd("5"));
    const { toolIds, rows } = packBatch([
      { payer, lines: [[tool, usd("1")]] },
      { payer: neighbour, modelCost: usd("1"), lines: [[tool, usd("2")]] },
    ]);
    const batchId = freshHash();
    const settle = router.connect(operator).settle;
    const enough = await settle.estimateGas(ZeroHash, batchId, toolIds, rows);
    const step = (enough - INTRINSIC_GAS) / 400n;
    let undone = 0;
    let settled = 0;
    for (let gasLimit = INTRINSIC_GAS; gasLimit <= enough + 20n * step; gasLimit += step) {
      const charged = await settle.staticCall(ZeroHash, batchId, toolIds, rows, { gasLimit }).catch(() => undefined);
      if (charged === undefined) {
        undone += 1;
      } else {
        // A row that had failed would be missing from the sum.
        expect(charged, `with ${gasLimit} gas`).to.equal(usd("4"));
        settled += 1;
      }
    }
    expect(undone).to.be.greaterThan(300);
    expect(settled).to.be.greaterThan(0);
  });

  it("leaves no trace of the batches that ran out of gas, so that they can be settled later", async () => {
    const { router, usdc, settle, payer, tool } = await marketplace();
    const charges = [{ payer, lines: [[tool, usd("1")]] as const }];
    const batchId = freshHash();
    const before = await usdc.balanceOf(payer);
    for (let gasLimit = 40_000n; gasLimit < 110_000n; gasLimit += 5_000n) {
      await expect(settle(charges, { batchId, gasLimit })).to.revert(ethers);
      expect(await router.settledAt(batchId)).to.equal(0n);
    }
    expect(await usdc.balanceOf(payer)).to.equal(before);
    await expect(settle(charges, { batchId })).not.to.emit(router, "ChargeFailed");
    expect(await usdc.balanceOf(payer)).to.equal(before - usd("1"));
  });
});

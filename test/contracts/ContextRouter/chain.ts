import { expect } from "chai";
import { AbiCoder, ZeroHash } from "ethers";
import { ethers, FUNDS, freshHash, marketplace, packBatch, usd } from "../fixture.ts";

describe("the chain of an operator's batches", () => {
  it("begins with nothing, and every batch is the head that the next one names", async () => {
    const { router, settle, operator, payer, tool } = await marketplace();
    const [first, second] = [freshHash(), freshHash()];
    expect(await router.headOf(operator)).to.equal(ZeroHash);
    await settle([{ payer, lines: [[tool, 1n]] }], { batchId: first });
    expect(await router.headOf(operator)).to.equal(first);
    await expect(settle([{ payer, lines: [[tool, 2n]] }], { batchId: second }))
      .to.emit(router, "BatchSettled")
      .withArgs(second, first, operator, 2n, 0n);
  });

  for (const [name, previous] of Object.entries({ "an older head": ZeroHash, "a batch that never was": freshHash() })) {
    it(`refuses a batch that follows ${name}, with both heads, and charges nobody`, async () => {
      const { router, usdc, settle, payer, tool } = await marketplace();
      const head = freshHash();
      await settle([{ payer, lines: [[tool, 1n]] }], { batchId: head });
      await expect(settle([{ payer, lines: [[tool, 2n]] }], { previous }))
        .to.be.revertedWithCustomError(router, "BatchOutOfOrder")
        .withArgs(previous, head);
      expect(await usdc.balanceOf(payer)).to.equal(FUNDS - 1n);
    });
  }

  it("is each operator's own", async () => {
    const { router, settle, asAdmin, postBond, operator, stranger, payer, tool } = await marketplace();
    await asAdmin(router.setOperatorLimit.populateTransaction(stranger, usd("5")));
    await postBond(stranger, usd("100"));
    const [own, other] = [freshHash(), freshHash()];
    await settle([{ payer, lines: [[tool, 1n]] }], { batchId: own });
    await settle([{ payer, lines: [[tool, 1n]] }], { batchId: other, by: stranger, previous: ZeroHash });
    expect(await router.headOf(operator)).to.equal(own);
    expect(await router.headOf(stranger)).to.equal(other);
  });
});

describe("what is kept of a batch", () => {
  it("proves its calldata, and which rows and lines were not charged", async () => {
    const { router, staking, settle, operator, stranger, payer, tool } = await marketplace();
    const unlisted = await staking.toolIdOf(stranger, freshHash());
    const batchId = freshHash();
    const charges = [
      {
        payer,
        lines: [
          [tool, 1n],
          [unlisted, 2n],
        ] as const,
      },
      { payer: stranger, modelCost: 3n },
    ];
    await settle(charges, { batchId });
    const { toolIds, rows } = packBatch(charges);
    const call = router.interface.encodeFunctionData("settle", [ZeroHash, batchId, toolIds, rows]);
    const hash = (types: string[], values: unknown[]) =>
      ethers.keccak256(AbiCoder.defaultAbiCoder().encode(types, values));
    // The stranger's address is the lower one.
    const second = 28;
    let exceptions = hash(["bytes32", "uint256", "uint256"], [ZeroHash, 0, ethers.MaxUint256]);
    exceptions = hash(["bytes32", "uint256", "uint256"], [exceptions, second, 0b10]);
    const digest = hash(["address", "bytes32", "bytes32"], [operator.address, ethers.keccak256(call), exceptions]);
    expect((await router.batchOf(batchId)).digest).to.equal(digest.slice(0, 2 + 2 * 27));
  });
});

import { expect } from "chai";
import { type ContractTransactionResponse, ZeroHash } from "ethers";
import {
  ethers,
  FAILURE,
  FUNDS,
  freshHash,
  type Marketplace,
  marketplace,
  networkHelpers,
  packBatch,
  provider,
  usd,
} from "../fixture.ts";

const HIGH_TIP = ethers.parseUnits("50", "gwei");
const LOW_TIP = 1n;

// Puts the payer's revocation and the operator's batch into one block, the higher tip first.
async function inOneBlock(
  { router, usdc, operator, payer, neighbour, tool }: Marketplace,
  first: "revocation" | "batch",
) {
  const batchId = freshHash();
  const { toolIds, rows } = packBatch([
    { payer, lines: [[tool, usd("1")]] },
    { payer: neighbour, lines: [[tool, usd("2")]] },
  ]);
  const fees = (name: typeof first) => ({
    gasLimit: 1_000_000n,
    maxPriorityFeePerGas: name === first ? HIGH_TIP : LOW_TIP,
    maxFeePerGas: 2n * HIGH_TIP,
  });
  await provider.request({ method: "evm_setAutomine", params: [false] });
  let sent: ContractTransactionResponse[];
  try {
    sent = [
      await usdc.connect(payer).approve(router, 0n, fees("revocation")),
      await router.connect(operator).settle(ZeroHash, batchId, toolIds, rows, fees("batch")),
    ];
    await networkHelpers.mine();
  } finally {
    await provider.request({ method: "evm_setAutomine", params: [true] });
  }
  const [revocation, batch] = await Promise.all(sent.map((transaction) => transaction.wait()));
  expect(revocation?.blockNumber).to.equal(batch?.blockNumber);
  expect(revocation?.index).to.equal(first === "revocation" ? 0 : 1);
  return { batchId, batch };
}

describe("a payer who revokes the allowance in the block of the settlement", () => {
  it("is not charged when the revocation comes first, and the others are", async () => {
    const market = await marketplace();
    const { router, usdc, fund, payer, neighbour, developer } = market;
    await fund(neighbour, usd("5"));
    const { batchId } = await inOneBlock(market, "revocation");
    const [failure] = await router.queryFilter(router.filters.ChargeFailed(batchId));
    expect(failure?.args).to.deep.equal([batchId, payer.address, 0n, usd("1"), FAILURE.allowance]);
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS);
    expect(await router.creditOf(developer)).to.equal(usd("1.8"));
  });

  it("is charged when the settlement comes first", async () => {
    const market = await marketplace();
    const { router, usdc, fund, payer, neighbour, developer } = market;
    await fund(neighbour, usd("5"));
    const { batchId } = await inOneBlock(market, "batch");
    expect(await router.queryFilter(router.filters.ChargeFailed(batchId))).to.deep.equal([]);
    expect(await usdc.balanceOf(payer)).to.equal(FUNDS - usd("1"));
    expect(await usdc.allowance(payer, router)).to.equal(0n);
    expect(await router.creditOf(developer)).to.equal(usd("2.7"));
  });
});

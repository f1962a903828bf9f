import { expect } from "chai";
import { toBeHex, ZeroHash } from "ethers";
import hre from "hardhat";
import type { Address, Hex } from "viem";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { freshHash, marketplace, refusedLines, usd } from "../fixture.ts";

const LINES = 255;
const UNLISTED: Hex = "0x0000000000000000000000000000dead";

describe("lines that are refused", () => {
  // A row of only refused lines, each with another amount; a good line before every tenth of them.
  const rowOf = (payer: string, good: boolean) => ({
    payer: payer as Address,
    modelCost: 0n,
    lines: Array.from({ length: LINES }, (_, i) => ({
      toolIndex: good && i % 10 === 0 ? 1 : 0,
      amount: BigInt(i + 1),
    })),
  });

  it("are reported in full, whatever stands between them", async () => {
    const { router, operator, payer, neighbour, reporter, fund, tool } = await marketplace();
    await fund(reporter, usd("1"));
    const payers = [payer, neighbour, reporter].map(({ address }) => address);
    const rows = payers.map((address, i) => rowOf(address, i !== 1));
    const batchId = freshHash();
    const settlement = router.connect(operator).settle(ZeroHash, batchId, [UNLISTED, tool], encodeRows(rows));
    const bytes = 28 + 7 * LINES;
    for (const [i, { lines, payer: refusedTo }] of rows.entries()) {
      const refused = lines.filter(({ toolIndex }) => toolIndex === 0).map(({ amount }) => [UNLISTED, amount] as const);
      await expect(settlement)
        .to.emit(router, "LinesRefused")
        .withArgs(batchId, refusedTo, i * bytes, refusedLines(...refused));
    }
  });

  it("cost the same each, however many there are", async function () {
    // Contracts that are instrumented for coverage cost more.
    if (hre.globalOptions.coverage) this.skip();
    const { router, operator, payer, tool } = await marketplace();
    let previous: string = ZeroHash;
    const gasOf = async (rows: number) => {
      const batchId = freshHash();
      const packed = encodeRows(
        Array.from({ length: rows }, (_, i) => rowOf(toBeHex(BigInt(payer.address) + BigInt(i), 20), false)),
      );
      const sent = await router.connect(operator).settle(previous, batchId, [UNLISTED, tool], packed);
      previous = batchId;
      return (await sent.wait())?.gasUsed ?? 0n;
    };
    await gasOf(1);
    const [one, two, twenty] = [await gasOf(1), await gasOf(2), await gasOf(20)];
    const each = (two - one) / BigInt(LINES);
    expect(each).to.be.lessThan(1_000n);
    expect(twenty - one).to.be.lessThan(((two - one) * 19n * 21n) / 20n);
  });
});

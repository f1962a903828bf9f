import { readFileSync } from "node:fs";
import { expect } from "chai";
import hre from "hardhat";
import { measureFloor } from "../../bench/gas/measureFloor.ts";
import { measureSettlement } from "../../bench/gas/measureSettlement.ts";
import { openMarketplace } from "../../bench/gas/openMarketplace.ts";
import { CALLS_PER_PAYER, PAYERS } from "../../bench/gas/workload.ts";

describe("the gas of a settlement", () => {
  it("is at most 245 per call and 1.4 times that of the bare transfers, and is what the page says", async function () {
    // Contracts that are instrumented for coverage cost more.
    if (hre.globalOptions.coverage) this.skip();
    const market = await openMarketplace(PAYERS);
    const { gas } = await measureSettlement(market, PAYERS);
    const floor = await measureFloor(market);
    await market.close();
    expect(gas / (PAYERS * CALLS_PER_PAYER)).to.be.at.most(245);
    expect(gas / floor).to.be.at.most(1.4);

    // A change that makes settling dearer or cheaper has to come with a new page.
    const { gas: published } = JSON.parse(readFileSync("docs/benchmarks.json", "utf8"));
    expect((gas / (PAYERS * CALLS_PER_PAYER)).toFixed(1)).to.equal(published.gasPerCall.toFixed(1));
    expect((gas / floor).toFixed(2)).to.equal(published.ratioToFloor.toFixed(2));
  });
});

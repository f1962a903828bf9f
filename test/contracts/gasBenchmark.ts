import { readFileSync } from "node:fs";
import { expect } from "chai";
import hre from "hardhat";
import { measureBudgets, measurePrepaid, measurePrepaidSigned } from "../../bench/gas/measureConsent.ts";
import { measureFloor } from "../../bench/gas/measureFloor.ts";
import { measureSettlement, measureSingleCall } from "../../bench/gas/measureSettlement.ts";
import { openMarketplace } from "../../bench/gas/openMarketplace.ts";
import { CALLS_PER_PAYER, PAYERS } from "../../bench/gas/workload.ts";

const MOST = {
  gasPerCall: 255,
  gasPerCallPrepaid: 172,
  gasPerCallPrepaidSigned: 275,
  gasPerCallWithBudgets: 330,
  singleCallBatchGas: 130_000,
  ratioToFloor: 1.5,
};

describe("the gas of a settlement", () => {
  it("is within its bounds, and is what the page says", async function () {
    // Contracts that are instrumented for coverage cost more.
    if (hre.globalOptions.coverage) this.skip();
    // Hundreds of transactions, on a machine that may have other work.
    this.timeout(600_000);
    const market = await openMarketplace(PAYERS);
    const perCall = ({ gas }: { gas: number }) => gas / (PAYERS * CALLS_PER_PAYER);
    const workload = await measureSettlement(market, PAYERS);
    const measured = {
      gasPerCall: perCall(workload),
      singleCallBatchGas: (await measureSingleCall(market)).gas,
      ratioToFloor: workload.gas / (await measureFloor(market)),
      gasPerCallPrepaid: perCall(await measurePrepaid(market)),
      gasPerCallPrepaidSigned: perCall(await measurePrepaidSigned(market)),
      gasPerCallWithBudgets: perCall(await measureBudgets(market)),
    };
    await market.close();

    // A change that makes settling costlier or cheaper has to come with a new page. Addresses, whose zeros are cheaper, differ
    // from those of the page by a fraction of a unit.
    const published = JSON.parse(readFileSync("docs/benchmarks.json", "utf8")).gas.measured;
    for (const name of Object.keys(MOST) as (keyof typeof MOST)[]) {
      expect(measured[name], name).to.be.at.most(MOST[name]);
      expect(Math.abs(measured[name] / published[name] - 1), `${name} on the page`).to.be.below(0.001);
    }
  });
});

import { mined } from "../../scripts/world/mined.ts";
import { BareTransfers__factory } from "../../typechain-types/index.ts";
import { FUNDS, type Marketplace } from "./openMarketplace.ts";
import { PAYER_TOTAL, PAYERS } from "./workload.ts";

// What the workload would cost if a batch were its token transfers alone: a `transferFrom` of the same amount from each
// payer, in one transaction. The second one is measured, as with the settlement.
export async function measureFloor({ usdc, operator, payers }: Marketplace): Promise<number> {
  const collector = await new BareTransfers__factory(operator).deploy();
  await mined(collector.deploymentTransaction());
  const charged = payers.slice(0, PAYERS);
  for (const payer of charged) await mined(usdc.connect(payer).approve(collector, FUNDS));
  const collect = () => mined(collector.collect(usdc, charged, PAYER_TOTAL));
  await collect();
  return Number((await collect()).gasUsed);
}

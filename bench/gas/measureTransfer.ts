import { mined } from "../../scripts/world/mined.ts";
import type { Marketplace } from "./openMarketplace.ts";

const PAYMENTS = 10;

// What one `transferFrom` per payment costs, each a transaction of its own from an account that payers have approved, as the
// mean of several. The payee holds USDC already.
export async function measureTransfer(market: Marketplace, amount: bigint): Promise<number> {
  const { usdc, operator, payers, toolIds, staking } = market;
  const { payout: payee } = await staking.tool(toolIds[0] ?? "0x");
  await mined(usdc.mint(payee, amount));
  let gas = 0;
  for (const payer of payers.slice(0, PAYMENTS)) {
    await mined(usdc.connect(payer).approve(operator, 2n * amount));
    gas += Number((await mined(usdc.connect(operator).transferFrom(payer, payee, amount))).gasUsed);
  }
  return gas / PAYMENTS;
}

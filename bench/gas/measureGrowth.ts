import { measureRows } from "./measureSettlement.ts";
import { measureTransfer } from "./measureTransfer.ts";
import { measureX402 } from "./measureX402.ts";
import { openMarketplace } from "./openMarketplace.ts";
import { CALL_PRICE, CALLS_PER_PAYER, growthRows, PAYERS, TOOLS } from "./workload.ts";

const CALLS = [1, 10, 100, 1_000, 10_000];
const PAYER_COUNTS = [1, 2, 5, 10, 20, 50, 100];
const TOOL_COUNTS = [1, 2, 5, 10, 20, 50, 100];

export type Growth = Awaited<ReturnType<typeof measureGrowth>>;

// How the gas of one batch grows with calls, with payers and with tools, one of them at a time. Deterministic, like the
// benchmark "gas".
export async function measureGrowth() {
  const market = await openMarketplace(PAYERS, Math.max(...TOOL_COUNTS));
  const settle = (calls: number, tools: number) => {
    const rows = growthRows(market.payers.slice(0, Math.ceil(calls / CALLS_PER_PAYER)), calls, tools);
    return measureRows(market, market.toolIds.slice(0, tools), rows);
  };

  const byCalls = [];
  for (const calls of CALLS) {
    // Naive is a transaction for each payer. All payers of the workload have rows of the same shape.
    const perPayer = Math.min(calls, CALLS_PER_PAYER);
    const { gas: oneEach } = await settle(perPayer, Math.min(TOOLS, perPayer));
    const { gas } = await settle(calls, Math.min(TOOLS, calls));
    byCalls.push({ calls, gas, gasPerCall: gas / calls, onePerPayerGasPerCall: oneEach / perPayer });
  }
  const byPayers = [];
  for (const payers of PAYER_COUNTS) {
    const { gas } = await settle(payers * CALLS_PER_PAYER, TOOLS);
    byPayers.push({ payers, gas, gasPerCall: gas / payers / CALLS_PER_PAYER, gasPerPayer: gas / payers });
  }
  const byTools = [];
  for (const tools of TOOL_COUNTS) {
    const { gas } = await settle(PAYERS * CALLS_PER_PAYER, tools);
    byTools.push({ tools, gas, gasPerCall: gas / PAYERS / CALLS_PER_PAYER });
  }
  const transferGas = await measureTransfer(market, CALL_PRICE);
  const x402Gas = await measureX402(market);
  await market.close();
  return { byCalls, byPayers, byTools, transferGas, x402Gas };
}

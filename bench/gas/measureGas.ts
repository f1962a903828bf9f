import { mined } from "../../scripts/world/mined.ts";
import { measureBudgets, measurePrepaid, measurePrepaidSigned } from "./measureConsent.ts";
import { measureFloor } from "./measureFloor.ts";
import { measureSettlement, measureSingleCall } from "./measureSettlement.ts";
import { measureX402 } from "./measureX402.ts";
import { measureX402Batch } from "./measureX402Batch.ts";
import { type Marketplace, openMarketplace } from "./openMarketplace.ts";
import { CALLS_PER_PAYER, PAYERS, TOOLS } from "./workload.ts";

const CALLS = PAYERS * CALLS_PER_PAYER;
const SCALES = [10, PAYERS, 500];
const DAILY_CAP = 100_000_000n;

// The benchmark "gas". Gas is exact and the chain is always the same one, so every run gives the same numbers.
export async function measureGas() {
  const log = (sentence: string) => console.error(sentence);
  log("Deploying the marketplace …");
  const market = await openMarketplace(Math.max(...SCALES));

  log("Settling …");
  const workload = await measureSettlement(market, PAYERS);
  const scaling = [];
  for (const payers of SCALES) {
    const { gas } = await measureSettlement(market, payers);
    scaling.push({
      payers,
      calls: payers * CALLS_PER_PAYER,
      gas,
      gasPerCall: round(gas / payers / CALLS_PER_PAYER, 2),
    });
  }
  const single = await measureSingleCall(market);

  log("Measuring bare transfers and x402 …");
  const floorGas = await measureFloor(market);
  const x402Gas = await measureX402(market);

  const channelsGas = await measureX402Batch(market, "tools");
  const singleReceiverGas = await measureX402Batch(market, "platform");

  log("Settling with prepaid balances and budgets …");
  const prepaid = await measurePrepaid(market);
  const prepaidSigned = await measurePrepaidSigned(market);
  const budgets = await measureBudgets(market);

  log("Settling with daily caps …");
  await setDailyCaps(market);
  const capped = await measureSettlement(market, PAYERS);
  await market.close();

  return {
    calls: CALLS,
    payers: PAYERS,
    tools: TOOLS,
    gasPerCall: round(workload.gas / CALLS, 2),
    calldataBytesPerCall: round(workload.calldataBytes / CALLS, 3),
    gasPerCallPrepaid: round(prepaid.gas / CALLS, 2),
    gasPerCallPrepaidSigned: round(prepaidSigned.gas / CALLS, 2),
    gasPerCallWithBudgets: round(budgets.gas / CALLS, 2),
    gasPerCallWithDailyCaps: round(capped.gas / CALLS, 2),
    floorGasPerCall: round(floorGas / CALLS, 2),
    ratioToFloor: round(workload.gas / floorGas, 3),
    x402GasPerPayment: round(x402Gas, 0),
    timesBelowX402: round((x402Gas * CALLS) / workload.gas, 1),
    x402BatchGasPerCall: round(channelsGas / CALLS, 2),
    x402BatchSingleReceiverGasPerCall: round(singleReceiverGas / CALLS, 2),
    batchGas: workload.gas,
    blockGasLimit: Number(market.blockGasLimit),
    shareOfBlock: round(workload.gas / Number(market.blockGasLimit), 4),
    singleCallBatchGas: single.gas,
    scaling,
  };
}

async function setDailyCaps({ router, payers }: Marketplace): Promise<void> {
  for (const payer of payers.slice(0, PAYERS)) await mined(router.connect(payer).setDailyCap(DAILY_CAP));
}

const round = (value: number, decimals: number) => Number(value.toFixed(decimals));

import { dataLength, keccak256, toBeHex } from "ethers";
import { encodeRows, type Row } from "../../settlement/chain/encodeRows.ts";
import { type Marketplace, mined } from "./openMarketplace.ts";
import { CALL_PRICE, workloadRows } from "./workload.ts";

export type Settlement = { gas: number; calldataBytes: number };

// Settles the workload of the first `payerCount` payers.
export async function measureSettlement(market: Marketplace, payerCount: number): Promise<Settlement> {
  const payers = market.payers.slice(0, payerCount).map(({ address }) => address);
  return measureRows(market, market.toolIds, workloadRows(payers));
}

// Settles the smallest batch there is: one call of one payer.
export async function measureSingleCall(market: Marketplace): Promise<Settlement> {
  const payers = market.payers.slice(0, 1).map(({ address }) => address);
  const rows = workloadRows(payers).map((row) => ({ ...row, lines: [{ toolIndex: 0, amount: CALL_PRICE }] }));
  return measureRows(market, market.toolIds.slice(0, 1), rows);
}

// Settles the rows twice and measures the second batch: by then no account and no credit is touched for the first time,
// which is how every batch goes but the first ones of a deployment.
export async function measureRows(market: Marketplace, toolIds: string[], rows: Row[]): Promise<Settlement> {
  await settle(market, toolIds, rows);
  return settle(market, toolIds, rows);
}

async function settle({ router, operator }: Marketplace, toolIds: string[], rows: Row[]): Promise<Settlement> {
  const receiptsRoot = keccak256(toBeHex(await operator.getNonce()));
  const sent = await router.connect(operator).settle(receiptsRoot, toolIds, encodeRows(rows));
  const receipt = await mined(sent);
  // A batch that leaves a row or a line out is cheaper than the one that is meant.
  const events = receipt.logs.map((log) => router.interface.parseLog(log)?.name);
  if (events.includes("ChargeFailed") || events.includes("LineRefused")) {
    throw new Error(`batch ${receiptsRoot} was not settled in full`);
  }
  return { gas: Number(receipt.gasUsed), calldataBytes: dataLength(sent.data) };
}

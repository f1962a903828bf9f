import { dataLength, keccak256, toBeHex } from "ethers";
import { mined } from "../../scripts/world/mined.ts";
import { encodeRows } from "../../settlement/chain/router/encodeRows.ts";
import type { BatchRow } from "../../settlement/domain/batch/batch.ts";
import type { Marketplace } from "./openMarketplace.ts";
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
export async function measureRows(market: Marketplace, toolIds: string[], rows: BatchRow[]): Promise<Settlement> {
  return measureBatches(market, toolIds, [rows, rows]);
}

// Settles one batch after the other and measures the last.
export async function measureBatches(
  market: Marketplace,
  toolIds: string[],
  batches: BatchRow[][],
): Promise<Settlement> {
  let last: Settlement = { gas: 0, calldataBytes: 0 };
  for (const rows of batches) last = await settle(market, toolIds, rows);
  return last;
}

// The router takes a batch's rows in the order of their payers.
const byPayer = (one: BatchRow, other: BatchRow) => (BigInt(one.payer) < BigInt(other.payer) ? -1 : 1);

async function settle({ router, operator }: Marketplace, toolIds: string[], rows: BatchRow[]): Promise<Settlement> {
  const batchId = keccak256(toBeHex(await operator.getNonce()));
  const previous = await router.headOf(operator);
  const sent = await router.connect(operator).settle(previous, batchId, toolIds, encodeRows(rows.toSorted(byPayer)));
  const receipt = await mined(sent);
  // A batch that leaves a row or a line out is cheaper than the one that is meant.
  const events = receipt.logs.map((log) => router.interface.parseLog(log)?.name);
  if (events.includes("ChargeFailed") || events.includes("LinesRefused")) {
    throw new Error(`batch ${batchId} was not settled in full`);
  }
  return { gas: Number(receipt.gasUsed), calldataBytes: dataLength(sent.data) };
}

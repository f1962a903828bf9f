import type { Address, Hex } from "viem";
import { mined } from "../../scripts/world/mined.ts";
import { BUDGET_TYPES, budgetDomain } from "../../settlement/chain/router/budgetDigest.ts";
import type { BatchRow, RowBudget } from "../../settlement/domain/batch/batch.ts";
import { measureBatches, type Settlement } from "./measureSettlement.ts";
import type { Marketplace } from "./openMarketplace.ts";
import { PAYER_TOTAL, PAYERS, workloadRows } from "./workload.ts";

const DEPOSIT = 100n * PAYER_TOTAL;
const VALID_UNTIL = 2n ** 40n - 1n;

// The ids of the budgets that are signed again with every batch, and of those that are signed once.
const SIGNED_EACH_TIME = 1n;
const SIGNED_ONCE = 2n;

// The workload out of prepaid balances.
export async function measurePrepaid(market: Marketplace): Promise<Settlement> {
  const rows = rowsOf(market).map((row) => ({ ...row, prepaid: true }));
  for (const payer of chargedOf(market)) await mined(market.router.connect(payer).deposit(DEPOSIT));
  return measureBatches(market, market.toolIds, [rows, rows]);
}

// The same when every row brings a budget that its payer has just signed, as the vouchers of payment channels are.
export async function measurePrepaidSigned(market: Marketplace): Promise<Settlement> {
  const batches = [];
  for (const round of [1n, 2n]) {
    const rows = await withBudgets(market, SIGNED_EACH_TIME, round * PAYER_TOTAL);
    batches.push(rows.map((row) => ({ ...row, prepaid: true })));
  }
  return measureBatches(market, market.toolIds, batches);
}

// The workload out of allowances, under budgets that an earlier batch has brought.
export async function measureBudgets(market: Marketplace): Promise<Settlement> {
  const bringing = await withBudgets(market, SIGNED_ONCE, 10n * PAYER_TOTAL);
  const drawing = rowsOf(market).map((row) => ({ ...row, budget: { id: SIGNED_ONCE } }));
  return measureBatches(market, market.toolIds, [bringing, drawing]);
}

async function withBudgets(market: Marketplace, id: bigint, maxSpend: bigint): Promise<BatchRow[]> {
  const router = (await market.router.getAddress()) as Address;
  const domain = budgetDomain({ chainId: Number(market.chainId), router });
  const payers = chargedOf(market);
  const budgetOf = async (position: number): Promise<RowBudget> => {
    const payer = payers[position];
    if (payer === undefined) throw new Error(`there is no payer ${position}`);
    const message = { payer: payer.address, id, maxSpend, validUntil: VALID_UNTIL, tools: [] };
    const signature = (await payer.signTypedData(domain, { Budget: [...BUDGET_TYPES.Budget] }, message)) as Hex;
    return { id, signed: { maxSpend, validUntil: VALID_UNTIL, signature } };
  };
  return Promise.all(rowsOf(market).map(async (row, i) => ({ ...row, budget: await budgetOf(i) })));
}

const chargedOf = ({ payers }: Marketplace) => payers.slice(0, PAYERS);
const rowsOf = (market: Marketplace) => workloadRows(chargedOf(market).map(({ address }) => address));

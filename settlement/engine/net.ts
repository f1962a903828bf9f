import { type Address, encodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../chain/abi.ts";
import type { Spendable } from "../chain/chain.ts";
import { encodeRows } from "../chain/encodeRows.ts";
import type { Batch, BatchBounds, BatchRow, ChargeFailure, NetResult } from "../domain/batch.ts";
import type { DueCharge } from "../domain/charge.ts";
import { MAX_AMOUNT, type MicroUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { leafOf, receiptsTree } from "./receipt.ts";

// A line names its tool by one byte.
const MAX_TOOLS = 256;
const MAX_LINES_PER_ROW = 255;

type OpenRow = { modelCost: bigint; total: bigint; lines: Map<ToolId, bigint> };

// Turns due charges into one batch: one row per account, one line per tool in it. It is pure, and the order of the
// charges decides only what is left for the next batch when something does not fit; the same set of charges always
// gives the same root.
//
// A charge above what its account's limits leave is unpayable: it fails now, without costing anybody gas, and the account's
// other charges still go through.
export function net(
  charges: readonly DueCharge[],
  spendableOf: ReadonlyMap<Address, Spendable>,
  bounds: BatchBounds,
): NetResult {
  const rows = new Map<Address, OpenRow>();
  const tools = new Set<ToolId>();
  const taken: DueCharge[] = [];
  const unpayable: { chargeId: Hex; reason: ChargeFailure }[] = [];
  let lines = 0;

  for (const charge of charges) {
    if (taken.length === bounds.maxCharges) break;
    const spendable = spendableOf.get(charge.chargedTo);
    // Nothing is known of this account now; its charge stays due.
    if (spendable === undefined) continue;

    const row = rows.get(charge.chargedTo) ?? { modelCost: 0n, total: 0n, lines: new Map() };
    const total = row.total + charge.amount;
    if (total > payableOf(spendable)) {
      unpayable.push({ chargeId: charge.id, reason: reasonOf(spendable, total) });
      continue;
    }
    const toolId = charge.for.kind === "tool" ? charge.for.toolId : null;
    const addsLine = toolId !== null && !row.lines.has(toolId);
    const fits =
      total <= MAX_AMOUNT &&
      (rows.has(charge.chargedTo) || rows.size < bounds.maxRows) &&
      (!addsLine || (lines < bounds.maxLines && row.lines.size < MAX_LINES_PER_ROW)) &&
      (toolId === null || tools.has(toolId) || tools.size < MAX_TOOLS);
    if (!fits) continue;

    rows.set(charge.chargedTo, row);
    row.total = total;
    if (toolId === null) row.modelCost += charge.amount;
    else row.lines.set(toolId, (row.lines.get(toolId) ?? 0n) + charge.amount);
    if (toolId !== null) tools.add(toolId);
    if (addsLine) lines += 1;
    taken.push(charge);
  }
  return { batch: taken.length > 0 ? buildBatch(taken, rows, tools) : null, unpayable };
}

function buildBatch(charges: DueCharge[], rows: Map<Address, OpenRow>, tools: Set<ToolId>): Batch {
  const toolIds = [...tools].sort();
  const indexOf = new Map(toolIds.map((toolId, index) => [toolId, index]));
  const receipts = charges.map((charge) => ({
    chargeId: charge.id,
    chargedTo: charge.chargedTo,
    leaf: leafOf(charge),
  }));
  const root = receiptsTree(receipts.map(({ leaf }) => leaf)).root as Hex;
  const batchRows = [...rows].sort(byKey).map(
    ([chargedTo, row]): BatchRow => ({
      chargedTo,
      modelCost: row.modelCost as MicroUsdc,
      lines: [...row.lines].sort(byKey).map(([toolId, amount]) => ({ toolId, amount: amount as MicroUsdc })),
      total: row.total as MicroUsdc,
    }),
  );
  const packed = encodeRows(
    batchRows.map(({ chargedTo, modelCost, lines }) => ({
      payer: chargedTo,
      modelCost,
      lines: lines.map(({ toolId, amount }) => ({ toolIndex: indexOf.get(toolId) as number, amount })),
    })),
  );
  return {
    root,
    toolIds,
    rows: batchRows,
    receipts,
    total: batchRows.reduce((sum, { total }) => sum + total, 0n) as MicroUsdc,
    calldata: encodeFunctionData({ abi: routerAbi, functionName: "settle", args: [root, toolIds, packed] }),
  };
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

// What the payer's own limits leave. That the token lets nothing be taken is not among them: it may have been paused when
// it was asked, which is not the payer's failure. The router tells a pause from a blacklisted payer, and proves it.
function payableOf({ balance, allowance, dailyCapLeft }: Spendable): bigint {
  return [allowance, dailyCapLeft].reduce((least: bigint, limit: bigint) => (limit < least ? limit : least), balance);
}

function reasonOf(spendable: Spendable, needed: bigint): ChargeFailure {
  if (spendable.dailyCapLeft < needed) return "daily_cap";
  if (spendable.allowance < needed) return "allowance";
  return "balance";
}

import type { Address, Hex } from "viem";
import { bytesOfRow, LINE_BYTES } from "../../chain/router/encodeRows.ts";
import { encodeSettle } from "../../chain/router/settleCall.ts";
import type { Batch, BatchBounds, BatchRow, ChargeFailure, NetResult, OperatorRoom } from "../../domain/batch/batch.ts";
import type { DueCharge } from "../../domain/charges/charge.ts";
import { MAX_AMOUNT, smaller, sumOf } from "../../domain/money.ts";
import { budgetName, type KnownBudget } from "../../domain/payer/budget.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { type Draw, type Due, drawOf, exceeded, type Funds, mustWait, type Underway } from "./draw.ts";
import { createMerkleTree, rootInSteps } from "./merkleTree.ts";
import { leafOf, type ReceiptDomain } from "./receipt.ts";

// A line names its tool by one byte.
const MAX_TOOLS = 256;
const MAX_LINES_PER_ROW = 255;
// The router takes no batch of more than 80,000 bytes, and 64 of them for each row of which something cannot be charged, because
// whoever disputes it has to show all that to the court in a transaction. Whatever becomes of its rows, a batch stays within that, with
// some hundred bytes around its rows and tools. A budget brings up to some kilobytes of tools and signature into its row.
const MAX_BYTES = 79_500;
const EXCEPTION_BYTES = 64;
// A word of the list that the lines name it by.
const TOOL_BYTES = 32;
// Whoever contests a row has all of its receipts shown for one deposit. So many of them cost the operator no more gas than the deposit
// pays for (`npm run bench -- court` says how much); without a bound, a row of thousands of tiny calls would cost more to defend than
// it is worth.
export const MAX_RECEIPTS_PER_ROW = 1_000;

const NOTHING_DUE: Due = { amount: 0n, least: 0n };

type OpenRow = {
  draw: Draw;
  budgetId: bigint | null;
  modelCost: bigint;
  total: bigint;
  receipts: number;
  lines: Map<ToolId, bigint>;
};

// Turns due charges into one batch: one row per account, one line per tool in it. It is pure, and the order of the
// charges decides only what is left for the next batch when something does not fit; the same set of charges always
// gives the same root.
//
// The batch stays within what is left of the operator's limit, which the router would refuse to exceed.
//
// A row draws on one budget, so that charges on another one wait for the next batch; the one that has waited longest decides.
//
// A charge above what its account's limits leave is unpayable: it fails now, without costing anybody gas, and the account's
// other charges still go through. One that is above them only because of what is underway waits.
export function net(...args: Parameters<typeof choose>): NetResult {
  const { chosen, ...others } = choose(...args);
  if (chosen === null) return { batch: null, ...others };
  const [, , { previous, domain }] = args;
  const leaves = chosen.charges.map((charge) => leafOf(domain, charge));
  return { batch: build(chosen, Buffer.concat(leaves), createMerkleTree(leaves).root, previous), ...others };
}

// The same in steps, so that nobody waits for the thousands of receipts that are hashed for a batch.
export async function netInSteps(...args: Parameters<typeof choose>): Promise<NetResult> {
  const { chosen, ...others } = choose(...args);
  if (chosen === null) return { batch: null, ...others };
  const [, , { previous, domain }] = args;
  const leaves = Buffer.alloc(chosen.charges.length * LEAF_BYTES);
  for (const [position, charge] of chosen.charges.entries()) {
    if (position % LEAVES_AT_ONCE === 0) await letOthersRun();
    leaves.set(leafOf(domain, charge), position * LEAF_BYTES);
  }
  const batchId = await rootInSteps(leaves);
  await letOthersRun();
  return { batch: build(chosen, leaves, batchId, previous), ...others };
}

const LEAF_BYTES = 32;
const LEAVES_AT_ONCE = 1_000;

type Chosen = { charges: readonly DueCharge[]; rows: ReadonlyMap<Address, OpenRow>; tools: ReadonlySet<ToolId> };

function choose(
  charges: readonly DueCharge[],
  fundsOf: ReadonlyMap<Address, Funds>,
  // `previous` is the batch that this one follows.
  bounds: BatchBounds & OperatorRoom & { previous: Hex; domain: ReceiptDomain; underway: Underway },
  budgetsOf: ReadonlyMap<string, KnownBudget> = new Map(),
): Omit<NetResult, "batch"> & { chosen: Chosen | null } {
  const dueOf = new Map<string, Due>();
  for (const charge of charges) {
    const source = sourceOf(charge);
    const { amount, least } = dueOf.get(source) ?? { amount: 0n, least: charge.amount };
    dueOf.set(source, { amount: amount + charge.amount, least: smaller(least, charge.amount) });
  }
  const rows = new Map<Address, OpenRow>();
  const tools = new Set<ToolId>();
  const taken: DueCharge[] = [];
  const unpayable: { chargeId: Hex; reason: ChargeFailure }[] = [];
  const aboveLimit: DueCharge[] = [];
  let waiting: DueCharge | null = null;
  let lines = 0;
  let bytes = 0;
  let sum = 0n;

  for (const charge of charges) {
    if (taken.length === bounds.maxCharges) break;
    const funds = fundsOf.get(charge.chargedTo);
    // Nothing is known of this account now; its charge stays due.
    if (funds === undefined) continue;
    const budgetId = budgetIdOf(charge);
    const budget = budgetId === null ? null : (budgetsOf.get(sourceOf(charge)) ?? null);
    if (budgetId !== null && (budget === null || !funds.budgets.has(budgetId))) continue;

    const known = rows.get(charge.chargedTo);
    const row = known ?? {
      draw: drawOf(funds, dueOf.get(sourceOf(charge)) ?? NOTHING_DUE, bounds.underway, budget),
      budgetId,
      modelCost: 0n,
      total: 0n,
      receipts: 0,
      lines: new Map(),
    };
    if (row.budgetId !== budgetId) continue;
    const total = row.total + charge.amount;
    const isFree = total <= row.draw.free;
    const limit = isFree ? null : exceeded(row.draw, total);
    const reason = limit ?? (isForAnotherTool(row.draw, charge) ? "budget_tools" : null);
    if (reason !== null) {
      unpayable.push({ chargeId: charge.id, reason });
      continue;
    }
    if (!isFree && mustWait(row.draw, total)) continue;
    if (charge.amount > bounds.limit) {
      aboveLimit.push(charge);
      continue;
    }
    if (sum + charge.amount > bounds.room) {
      waiting = charge;
      break;
    }
    const toolId = charge.for.kind === "tool" ? charge.for.toolId : null;
    const line = toolId === null ? undefined : row.lines.get(toolId);
    const addsLine = toolId !== null && line === undefined;
    const addsTool = addsLine && !tools.has(toolId);
    const added =
      (known === undefined ? bytesOfRow(row.draw.budget?.row) + EXCEPTION_BYTES : 0) +
      (addsLine ? LINE_BYTES : 0) +
      (addsTool ? TOOL_BYTES : 0);
    const fits =
      bytes + added <= MAX_BYTES &&
      total <= MAX_AMOUNT &&
      row.receipts < MAX_RECEIPTS_PER_ROW &&
      (known !== undefined || rows.size < bounds.maxRows) &&
      (!addsLine || (lines < bounds.maxLines && row.lines.size < MAX_LINES_PER_ROW)) &&
      (!addsTool || tools.size < MAX_TOOLS);
    if (!fits) continue;

    if (known === undefined) rows.set(charge.chargedTo, row);
    row.total = total;
    row.receipts += 1;
    sum += charge.amount;
    if (toolId === null) row.modelCost += charge.amount;
    else row.lines.set(toolId, (line ?? 0n) + charge.amount);
    if (addsTool) tools.add(toolId);
    if (addsLine) lines += 1;
    taken.push(charge);
    bytes += added;
  }
  return { chosen: taken.length > 0 ? { charges: taken, rows, tools } : null, unpayable, waiting, aboveLimit };
}

function build({ charges, rows, tools }: Chosen, leaves: Buffer, batchId: Hex, previous: Hex): Batch {
  const toolIds = [...tools].sort();
  const indexOf = new Map(toolIds.map((toolId, index) => [toolId, index]));
  const digits = leaves.toString("hex");
  const receipts = charges.map(({ id, chargedTo }, position) => {
    const start = 2 * LEAF_BYTES * position;
    return { chargeId: id, chargedTo, leaf: `0x${digits.slice(start, start + 2 * LEAF_BYTES)}` as Hex };
  });
  const batchRows = [...rows].sort(byKey).map(
    ([payer, { draw, modelCost, lines }]): BatchRow => ({
      payer,
      modelCost,
      ...(draw.prepaid && { prepaid: true }),
      ...(draw.budget && { budget: draw.budget.row }),
      lines: [...lines].sort(byKey).map(([toolId, amount]) => ({ toolIndex: indexOf.get(toolId) as number, amount })),
    }),
  );
  return {
    batchId,
    rows: batchRows,
    receipts,
    total: sumOf(charges.map(({ amount }) => amount)),
    calldata: encodeSettle({ previous, batchId, toolIds, rows: batchRows }),
  };
}

// What a charge draws on: whoever pays for the payer has signed nothing.
const budgetIdOf = ({ budgetId, payer, chargedTo }: DueCharge) => (payer === chargedTo ? budgetId : null);

// An account, with its budget if there is one.
const sourceOf = (charge: DueCharge) => {
  const id = budgetIdOf(charge);
  return id === null ? charge.chargedTo : budgetName({ payer: charge.chargedTo, id });
};

const isForAnotherTool = ({ budget }: Draw, { for: subject }: DueCharge) =>
  budget !== null && subject.kind === "tool" && !budget.isFor(subject.toolId);

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

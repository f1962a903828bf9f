import type { Address, Hex } from "viem";
import type { SettledBatch } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import { SettlementError } from "../../domain/errors.ts";
import { larger, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Adoption, FoundBatch, TakenLine } from "../../ledger/ledger.ts";
import { keepBudget } from "../accept/budgets/keepBudget.ts";
import type { EngineContext } from "../context.ts";
import { explain, hasRowsOf, ourKeys, type Unexplained } from "./explain.ts";

export type UnknownBatch = SettledBatch & { why: Unexplained; isFinal: boolean };

// Batches that the chain has settled and that the ledger does not stand by. Those that are not final yet may still be undone, and
// can be taken in only when they are.
export async function findUnknown(context: EngineContext): Promise<UnknownBatch[]> {
  const { ledger, chain, fromBlock } = context;
  const keys = await ourKeys(context);
  const since = larger((await ledger.readFinalized())?.number ?? fromBlock, fromBlock);
  const [finalized, head] = await Promise.all([chain.finalized(), chain.head()]);
  const unknown: UnknownBatch[] = [];
  for (const batch of await chain.settledBatches(since, larger(head.number, finalized.number))) {
    const why = await explain(context, batch, keys);
    if (why !== null) unknown.push({ ...batch, why, isFinal: batch.blockNumber <= finalized.number });
  }
  return unknown;
}

// Takes such a batch into the ledger, so that nobody is charged again for what it has taken. `all` are those that were found with
// it, and `brought` is its calldata if a person has it. "hidden" if that cannot be found; null if the chain does not show its
// transaction now.
export async function adopt(
  context: EngineContext,
  { batchId, operator, txHash, why }: UnknownBatch,
  all: readonly UnknownBatch[],
  brought?: Hex,
): Promise<Adoption | { kind: "hidden" } | null> {
  const { ledger, chain, clock } = context;
  const [receipt, shown] = await Promise.all([chain.finalReceipt(txHash), chain.calldataOf(txHash, batchId)]);
  // What rows have failed is not taken; nobody is believed about that alone.
  if (receipt === null || "differs" in receipt || !receipt.isAgreed || shown === null) return null;
  const outcome = receipt.batches.get(batchId);
  if (outcome === undefined) return null;
  const calldata =
    shown === "hidden" && brought !== undefined ? await chain.calldataOf(txHash, batchId, brought) : shown;
  if (calldata === null) return null;
  if (calldata === "hidden") return { kind: "hidden" };
  const { rows, taken } = takenBy(calldata, outcome);
  const charged = taken.reduce((sum, { amount }) => sum + amount, 0n);
  if (charged !== outcome.charged) {
    throw new SettlementError(
      "drift",
      `batch ${batchId} in ${txHash} has charged ${outcome.charged}, and its rows say ${charged}; nothing was taken in`,
    );
  }
  const { blockNumber, blockHash, gasUsed } = receipt;
  const found: FoundBatch = {
    batchId,
    operator,
    router: chain.router,
    calldata,
    inclusion: { txHash, blockNumber, blockHash, gasUsed },
    outcome,
    otherRows: why === "other_rows" || (why === "abandoned" && (await isForged(context, batchId, txHash))),
    lost: all.filter((other) => other.isFinal && other.why === "other_rows").map((other) => other.batchId),
    rows,
    taken,
  };
  // First, so that a crash in between leaves a batch to be taken in once more.
  await keepBrought(context, calldata);
  return ledger.adoptBatch(found, clock.nowMs());
}

async function isForged(context: EngineContext, batchId: Hex, txHash: Hex): Promise<boolean> {
  const submission = await context.ledger.findSubmission(batchId);
  return submission !== null && !(await hasRowsOf(context, submission, txHash));
}

// What payers have signed was forgotten with the batch that brought it. It is checked again: whoever made the batch may have made it
// up, and the router looks at no signature that raises nothing.
async function keepBrought(context: EngineContext, calldata: Hex): Promise<void> {
  for (const { payer, budget } of decodeSettle(calldata).rows) {
    if (budget?.signed === undefined) continue;
    const { maxSpend, validUntil, signature } = budget.signed;
    const terms = { payer, id: budget.id, maxSpend: microUsdc(maxSpend), validUntil, tools: budget.tools ?? [] };
    await keepBudget(context, { ...terms, signature });
  }
}

// A row may have several lines for one tool, of which some are refused: each is told by its amount.
export function takenBy(calldata: Hex, outcome: BatchOutcome): { rows: number; taken: TakenLine[] } {
  const { toolIds, rows } = decodeSettle(calldata);
  const failed = new Set(outcome.failed.map(({ chargedTo }) => chargedTo.toLowerCase()));
  const nameOf = (payer: Address, toolId: ToolId, amount: bigint) => `${payer} ${toolId} ${amount}`.toLowerCase();
  const refused = outcome.refused.map(({ chargedTo, toolId, amount }) => nameOf(chargedTo, toolId, amount));
  const isRefused = (line: string) => {
    const at = refused.indexOf(line);
    if (at >= 0) refused.splice(at, 1);
    return at >= 0;
  };
  const taken = rows
    .filter(({ payer }) => !failed.has(payer.toLowerCase()))
    .flatMap(({ payer, modelCost, lines }): TakenLine[] => [
      { chargedTo: payer, toolId: null, amount: microUsdc(modelCost) },
      ...lines
        .map(({ toolIndex, amount }) => ({ toolId: toolIds[toolIndex] as ToolId, amount: microUsdc(amount) }))
        .filter(({ toolId, amount }) => !isRefused(nameOf(payer, toolId, amount)))
        .map((line) => ({ chargedTo: payer, ...line })),
    ])
    .filter(({ amount }) => amount > 0n);
  return { rows: rows.length, taken };
}

import type { Address, Hex } from "viem";
import type { SettledBatch } from "../../chain/chain.ts";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch.ts";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Adoption, FoundBatch, TakenLine } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

// Batches of our keys that the chain has settled for good and that the ledger does not know, or has given up.
export async function findUnknown({ ledger, chain, signers, fromBlock }: EngineContext): Promise<SettledBatch[]> {
  const keys = new Set<Address>(signers.map(({ address }) => address.toLowerCase() as Address));
  for (const { operator } of await ledger.listOperators()) keys.add(operator);
  const last = (await ledger.readFinalized())?.number ?? fromBlock;
  const since = last > fromBlock ? last : fromBlock;
  const { number: finalized } = await chain.finalized();
  const unknown: SettledBatch[] = [];
  for (const batch of await chain.settledBatches(since, finalized)) {
    const submission = await ledger.findSubmission(batch.root);
    const isUnknown = submission === null ? keys.has(batch.operator) : submission.state.kind === "abandoned";
    if (isUnknown) unknown.push(batch);
  }
  return unknown;
}

// Takes such a batch into the ledger, so that nobody is charged again for what it has taken. Null if the chain does not
// show its transaction now.
export async function adopt(
  context: EngineContext,
  { root, operator, txHash }: SettledBatch,
): Promise<Adoption | null> {
  const { ledger, chain, clock } = context;
  const [receipt, calldata] = await Promise.all([chain.receipt(txHash), chain.calldataOf(txHash)]);
  const outcome = receipt?.batches.get(root);
  if (receipt === null || outcome === undefined || calldata === null) return null;
  const { blockNumber, blockHash, gasUsed } = receipt;
  const found: FoundBatch = {
    root,
    operator,
    router: chain.router,
    calldata,
    inclusion: { txHash, blockNumber, blockHash, gasUsed },
    outcome,
    ...takenBy(calldata, outcome),
  };
  return ledger.adoptBatch(found, clock.nowMs());
}

function takenBy(calldata: Hex, outcome: BatchOutcome): { rows: number; taken: TakenLine[] } {
  const { toolIds, rows } = decodeSettle(calldata);
  const failed = new Set(outcome.failed.map(({ chargedTo }) => chargedTo.toLowerCase()));
  const refused = new Set(outcome.refused.map(({ chargedTo, toolId }) => `${chargedTo} ${toolId}`.toLowerCase()));
  const taken = rows
    .filter(({ payer }) => !failed.has(payer.toLowerCase()))
    .flatMap(({ payer, modelCost, lines }): TakenLine[] => [
      { chargedTo: payer, toolId: null, amount: microUsdc(modelCost) },
      ...lines
        .map(({ toolIndex, amount }) => ({ toolId: toolIds[toolIndex] as ToolId, amount: microUsdc(amount) }))
        .filter(({ toolId }) => !refused.has(`${payer} ${toolId}`.toLowerCase()))
        .map((line) => ({ chargedTo: payer, ...line })),
    ])
    .filter(({ amount }) => amount > 0n);
  return { rows: rows.length, taken };
}

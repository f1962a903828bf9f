import type { FinalSubmission, Reopening } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

export type Vanished = FinalSubmission & { reopening: Reopening | null };

// What is final in the ledger and no longer on chain, since the block from which the watch goes on. Nothing is known of blocks
// above what is final now.
export async function findVanished({ ledger, chain, fromBlock }: EngineContext): Promise<FinalSubmission[]> {
  const finalized = await chain.finalized();
  const since = (await ledger.readFinalized())?.number ?? fromBlock;
  const vanished: FinalSubmission[] = [];
  for (const submission of await ledger.listFinalSince(since)) {
    const { blockNumber, blockHash } = submission;
    if (blockNumber > finalized.number) continue;
    if ((await chain.blockHash(blockNumber, finalized)) !== blockHash) vanished.push(submission);
  }
  return vanished;
}

// Puts all of it on its way again. A batch that the chain has settled in another block meanwhile is found there by confirming.
export async function reopenVanished(context: EngineContext): Promise<Vanished[]> {
  const reopened: Vanished[] = [];
  for (const submission of await findVanished(context)) {
    reopened.push({ ...submission, reopening: await context.ledger.reopen(submission.id) });
  }
  return reopened;
}

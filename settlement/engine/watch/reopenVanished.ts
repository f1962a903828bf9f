import type { FinalSubmission, Reopening } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

export type Vanished = FinalSubmission & { isFinal: boolean };
export type Reopened = Vanished & { reopening: Reopening };

// What is final in the ledger and no longer on chain, since the block from which the watch goes on. Above what is final now the
// chain may still come back to what it was, and until it is final nothing is reopened.
export async function findVanished({ ledger, chain, fromBlock }: EngineContext): Promise<Vanished[]> {
  const finalized = await chain.finalized();
  const since = (await ledger.readFinalized())?.number ?? fromBlock;
  const vanished: Vanished[] = [];
  for (const submission of await ledger.listFinalSince(since)) {
    const { blockNumber, blockHash } = submission;
    const isFinal = blockNumber <= finalized.number;
    const hash = isFinal ? await chain.blockHash(blockNumber, finalized) : await chain.blockHash(blockNumber);
    if (hash !== blockHash) vanished.push({ ...submission, isFinal });
  }
  return vanished;
}

// Puts all of it on its way again. A batch that the chain has settled in another block meanwhile is found there by confirming.
export async function reopenVanished(context: EngineContext): Promise<Reopened[]> {
  const { ledger, clock } = context;
  const reopened: Reopened[] = [];
  for (const submission of (await findVanished(context)).filter(({ isFinal }) => isFinal)) {
    reopened.push({ ...submission, reopening: await ledger.reopen(submission.id, clock.nowMs()) });
  }
  return reopened;
}

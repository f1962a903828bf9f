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

// What is final in the ledger and was never mined: an endpoint that was alone then has made it up. Its nonce is not spent at the final
// block, and its root not settled, say all endpoints; everything after it would wait for it forever.
export async function findUnmined({ ledger, chain }: EngineContext): Promise<Vanished[]> {
  const finalized = await chain.finalized();
  const unmined: Vanished[] = [];
  for (const { operator } of await ledger.listOperators()) {
    for (const submission of await ledger.listFinalFrom(operator, await chain.nonce(operator, finalized))) {
      const { id, kind, blockNumber } = submission;
      if (blockNumber > finalized.number) continue;
      if (kind !== "settle" || (await chain.settledAt(id, finalized)) === 0n)
        unmined.push({ ...submission, isFinal: true });
    }
  }
  return unmined;
}

// All that a person may put on its way again.
export async function findGone(context: EngineContext): Promise<Vanished[]> {
  const vanished = await findVanished(context);
  const known = new Set(vanished.map(({ id }) => id));
  return [...vanished, ...(await findUnmined(context)).filter(({ id }) => !known.has(id))];
}

// Puts all of it on its way again. A batch that the chain has settled in another block meanwhile is found there by confirming.
export async function reopenVanished(context: EngineContext): Promise<Reopened[]> {
  const { ledger, clock } = context;
  const reopened: Reopened[] = [];
  for (const submission of (await findGone(context)).filter(({ isFinal }) => isFinal)) {
    reopened.push({ ...submission, reopening: await ledger.reopen(submission.id, clock.nowMs()) });
  }
  return reopened;
}

import type { Address, Hex } from "viem";
import { decodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { EngineContext } from "../context.ts";

// The batch that the next one of an operator has to name: the last of those on their way that follow each other from what
// the chain has settled last. One that reverted takes its followers with it, because they name it; they are passed over here,
// revert in their turn, and their charges come back. Null if the chain's last batch is one that this ledger does not know, or
// has given up: then nothing may be planned on top of it. One endpoint alone says so here; if it is so, the watch finds it in the
// logs and halts.
export async function previousBatch({ ledger, chain }: EngineContext, operator: Address): Promise<Hex | null> {
  const head = await chain.headOf(operator);
  if (head !== NO_BATCH) {
    const state = (await ledger.findSubmission(head))?.state.kind;
    if (state === undefined || state === "abandoned") return null;
  }
  return lastOf(head, await ledger.listUnmined(operator));
}

// Whether a batch that is planned still follows what will be settled before it.
export function stillFollows(submission: Submission, head: Hex, unmined: readonly Submission[]): boolean {
  const before = unmined.filter(({ id }) => id !== submission.id);
  return decodeSettle(submission.calldata).previous === lastOf(head, before);
}

function lastOf(head: Hex, unmined: readonly Submission[]): Hex {
  let last = head;
  for (const { id, kind, calldata } of unmined) {
    if (kind === "settle" && decodeSettle(calldata).previous === last) last = id;
  }
  return last;
}

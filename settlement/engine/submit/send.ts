import type { SendOutcome } from "../../chain/chain.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { EngineContext } from "../context.ts";

// Sends the newest bytes of a submission. Whatever the answer, the bytes are in the ledger and the submission is looked
// for on chain; the answer only tells what to do next.
export async function send(context: EngineContext, submission: Submission): Promise<SendOutcome> {
  const broadcast = submission.broadcasts.at(-1);
  if (broadcast === undefined) return { kind: "unknown", reason: "nothing was signed" };
  const outcome = await context.chain.send(broadcast.raw);
  context.reached("after_send");
  context.report({ kind: "sent", id: submission.id, txHash: broadcast.txHash, outcome: outcome.kind });
  return outcome;
}

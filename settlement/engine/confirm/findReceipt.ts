import type { Hex } from "viem";
import type { TxReceipt } from "../../chain/chain.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { EngineContext } from "../context.ts";

export async function findReceipt(
  { chain }: Pick<EngineContext, "chain">,
  submission: Submission,
): Promise<TxReceipt | null> {
  for (const { txHash } of submission.broadcasts) {
    const receipt = await chain.receipt(txHash);
    if (receipt !== null) return receipt;
  }
  // A peer may have settled the same root with a transaction that this ledger never saw.
  const settled = submission.kind === "settle" && (await chain.settledAt(submission.id, "latest")) !== 0n;
  return settled ? chain.receiptOfBatch(submission.id) : null;
}

// What was mined in place of a transaction that somebody has made up, if all endpoints show that.
export async function findInstead(
  context: Pick<EngineContext, "chain">,
  submission: Submission,
  madeUp: Hex,
): Promise<TxReceipt | null> {
  const broadcasts = submission.broadcasts.filter(({ txHash }) => txHash !== madeUp);
  const found = await findReceipt(context, { ...submission, broadcasts });
  if (found === null || found.txHash === madeUp) return null;
  const receipt = await context.chain.finalReceipt(found.txHash);
  return receipt !== null && "isAgreed" in receipt && receipt.isAgreed ? receipt : null;
}

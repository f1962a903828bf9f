import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { microUsdc } from "../../domain/money.ts";
import type { EngineContext } from "../context.ts";

// A final batch has brought its signatures to the chain. What is forgotten by a crash before this is brought once more, which the
// router takes without effect.
export async function noteCarried(
  { ledger }: Pick<EngineContext, "ledger">,
  { kind, calldata }: Submission,
  outcome: BatchOutcome | null,
): Promise<void> {
  if (kind !== "settle" || outcome === null) return;
  const failed = new Set(outcome.failed.map(({ chargedTo }) => chargedTo.toLowerCase()));
  for (const { payer, budget } of decodeSettle(calldata).rows) {
    if (budget?.signed === undefined || failed.has(payer.toLowerCase())) continue;
    await ledger.noteCarried({ payer, id: budget.id, maxSpend: microUsdc(budget.signed.maxSpend) });
  }
}

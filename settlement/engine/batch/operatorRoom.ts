import type { Address } from "viem";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import type { OperatorRoom } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import type { EngineContext } from "../context.ts";

// The chain says what is left at its head; batches that are on their way there will take their part of it. One that is mined
// and not yet recorded counts twice for a moment, which only makes the next batch smaller.
export async function operatorRoom(
  { chain, ledger }: EngineContext,
  operator: Address,
): Promise<OperatorRoom & { bonded: boolean }> {
  const { limit, left, bonded } = await chain.operatorLimit(operator);
  const underway = (await ledger.listUnmined(operator))
    .filter(({ kind }) => kind === "settle")
    .reduce((sum, submission) => sum + totalOf(submission), 0n);
  return { limit, room: left > underway ? left - underway : 0n, bonded };
}

function totalOf({ calldata }: Submission): bigint {
  return decodeSettle(calldata).rows.reduce(
    (sum, { modelCost, lines }) => lines.reduce((total, { amount }) => total + amount, sum + modelCost),
    0n,
  );
}

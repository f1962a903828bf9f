import type { ReadSpendable } from "../../chain/readSpendable.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Turn } from "../../domain/turn.ts";
import type { EngineContext } from "../context.ts";
import type { Admission } from "./admission.ts";
import type { Prices } from "./prices.ts";
import { settleAtOnce } from "./settleAtOnce.ts";

// How often the chain is asked again because what it said was outdated by the time it was used.
const MAX_TRIES = 5;

export type RecordContext = Pick<EngineContext, "ledger" | "clock"> & {
  policy: Pick<EngineContext["policy"], "credit">;
};

// Records a turn that was delivered, unless it would be more than its payer has credit for. Whoever reports it has asked before it ran,
// and reports it again until there is room. The chain is asked about prepaid money only if the credit alone is too small.
export async function recordTurn(
  { ledger, clock, policy: { credit } }: RecordContext,
  readSpendable: ReadSpendable,
  admission: Admission,
  prices: Prices,
  turn: Turn,
) {
  // A turn was delivered, so that it does not wait for a chain that is away. One that was recorded before is the same turn, whatever
  // its tools are listed for by now.
  const tooHigh = turn.outcome === "delivered" ? await prices.refuse(turn.tools, "take") : null;
  if (tooHigh !== null && (await ledger.listChargesOf({ turnId: turn.id })).length === 0) {
    throw new SettlementError("invalid_input", `turn ${turn.id} asks too much: ${tooHigh}`);
  }
  // A charge for each tool and one for the model.
  return admission.write(turn.tools.length + 1, async () => {
    let recorded = await ledger.recordTurn(turn, clock.nowMs(), { credit, prepaid: null });
    for (let tries = 1; recorded.kind === "credit_exceeded" && tries < MAX_TRIES; tries++) {
      const { takenAtBlock } = recorded;
      const prepaid = await prepaidOf(readSpendable, turn, takenAtBlock);
      if (prepaid === null || prepaid.amount === 0n) break;
      recorded = await ledger.recordTurn(turn, clock.nowMs(), { credit, prepaid });
      // What was said of the prepaid money was good, and it does not cover this.
      if (recorded.kind === "credit_exceeded" && prepaid.atBlock >= recorded.takenAtBlock) break;
    }
    if (recorded.kind === "credit_exceeded") await settleAtOnce({ ledger, clock }, turn.payer);
    return recorded;
  });
}

// Null if the chain does not answer: then nothing is known of prepaid money.
async function prepaidOf(readSpendable: ReadSpendable, { payer }: Turn, notBefore: bigint) {
  try {
    const { prepaid, atBlock } = await readSpendable(payer, notBefore);
    return { amount: prepaid, atBlock };
  } catch (error) {
    if (error instanceof SettlementError && error.retryable) return null;
    throw error;
  }
}

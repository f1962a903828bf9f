import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../../domain/batch/batch.ts";
import { isOfBatch } from "../../database/beginnings.ts";
import { address, amount, budgetId, hex } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { lower } from "../../validate.ts";

// The charges that a batch has now. Those that failed or were refused have left it.
export const OF_BATCH = `${isOfBatch("$1")} AND state = 'batched'`;

// Whether a line of a mined batch is still owed. A row that failed is, and a line whose tool may not earn more today. Any other
// refused line is not, even if its row failed as well: nobody is charged for it.
export function isOwed(outcome: BatchOutcome): (chargedTo: Address, toolId: Hex) => boolean {
  const failed = new Set(outcome.failed.map(({ chargedTo }) => lower(chargedTo)));
  const refused = new Map(
    outcome.refused.map(({ chargedTo, toolId, reason }) => [`${lower(chargedTo)} ${lower(toolId)}`, reason]),
  );
  return (chargedTo, toolId) => {
    const reason = refused.get(`${chargedTo} ${toolId}`);
    return reason === undefined ? failed.has(chargedTo) : reason === "earning_cap";
  };
}

// Whether nobody was charged for it, for whatever reason.
export function isRefused({ refused }: BatchOutcome): (chargedTo: Address, toolId: Hex) => boolean {
  const lines = new Set(refused.map(({ chargedTo, toolId }) => `${lower(chargedTo)} ${lower(toolId)}`));
  return (chargedTo, toolId) => lines.has(`${chargedTo} ${toolId}`);
}

// Moves what a batch takes on chain out of pending, or back into it.
export async function countTaken(
  tx: Tx,
  batchId: Hex,
  outcome: BatchOutcome,
  direction: { kind: "taken"; atBlock: bigint } | { kind: "returned" },
): Promise<void> {
  const owed = isOwed(outcome);
  const refused = isRefused(outcome);
  // Mostly no line was refused, and then a row needs not be told from its lines.
  const [toolId, byTool] = outcome.refused.length === 0 ? ["''", ""] : ["COALESCE(tool_id, '')", ", tool_id"];
  const rows = await tx.all(
    `SELECT payer, budget_id, ${toolId} AS tool_id, CAST(SUM(amount) AS BIGINT) AS amount,
       CAST(SUM(owed * amount) AS BIGINT) AS owed
     FROM charges
     WHERE ${OF_BATCH} AND charged_to = payer
     GROUP BY payer, budget_id${byTool}`,
    [batchId],
  );
  for (const row of rows) {
    const payer = address(row, "payer");
    if (owed(payer, hex(row, "tool_id"))) continue;
    const [pending, collected] = [amount(row), amount(row, "owed")];
    // A refused line is no longer owed, and nothing was taken for it.
    const taken = refused(payer, hex(row, "tool_id")) ? 0n : pending;
    if (direction.kind === "returned") tx.change(payer, { pending, owed: collected, taken: -taken }, budgetId(row));
    else {
      const { atBlock: takenAtBlock } = direction;
      tx.change(payer, { pending: -pending, owed: -collected, taken, takenAtBlock }, budgetId(row));
    }
  }
}

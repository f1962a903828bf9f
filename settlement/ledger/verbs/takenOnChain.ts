import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../domain/batch.ts";
import { address, amount, hex } from "../decode.ts";
import type { Tx } from "../tx.ts";
import { lower } from "../validate.ts";

// The charges that a batch has now. Those that failed or were refused have left it.
export const OF_BATCH = "id IN (SELECT charge_id FROM receipts WHERE root = $1) AND root = $1 AND state = 'batched'";

// Moves what a batch takes on chain out of pending, or back into it. A row that failed is still owed. A refused line is
// not: nobody is charged for it, even if its row failed as well.
export async function countTaken(tx: Tx, root: Hex, outcome: BatchOutcome, direction: "taken" | "returned") {
  const failed = new Set(outcome.failed.map(({ chargedTo }) => lower(chargedTo)));
  const refused = new Set(outcome.refused.map(lineOf));
  const rows = await tx.all(
    `SELECT charged_to, COALESCE(tool_id, '') AS tool_id, CAST(SUM(amount) AS BIGINT) AS amount
     FROM charges
     WHERE ${OF_BATCH} AND charged_to = payer
     GROUP BY charged_to, tool_id`,
    [root],
  );
  for (const row of rows) {
    const payer = address(row, "charged_to");
    const owed = failed.has(payer) && !refused.has(lineOf({ chargedTo: payer, toolId: hex(row, "tool_id") }));
    if (owed) continue;
    tx.change(payer, { pending: direction === "taken" ? -amount(row) : amount(row) });
  }
}

function lineOf({ chargedTo, toolId }: { chargedTo: Address; toolId: Hex }): string {
  return `${lower(chargedTo)} ${lower(toolId)}`;
}

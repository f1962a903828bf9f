import type { Address, Hex } from "viem";
import type { ToolId } from "../../../domain/toolId.ts";
import { address, amount, count, hex } from "../../database/decode.ts";
import { chargeKeys, chunksOf, type Row } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { lower } from "../../validate.ts";
import { OF_BATCH } from "../adopt/takenOnChain.ts";

// The tool of this line may not earn more at present. That is nobody's failure: the line is due again later and uses up no
// attempt. It counts as a try all the same, or the same charges would make the same batch, which the chain settles once.
export async function deferCharges(
  tx: Tx,
  batchId: Hex,
  { chargedTo, toolId }: { chargedTo: Address; toolId: ToolId },
  dueAtMs: number,
): Promise<void> {
  const deferred = await tx.all(
    `UPDATE charges SET state = 'accrued', batch_id = NULL, due_at = $4, attempts = attempts + 1, deferrals = deferrals + 1
     WHERE ${OF_BATCH} AND charged_to = $2 AND tool_id = $3
     RETURNING charged_to, amount`,
    [batchId, lower(chargedTo), lower(toolId), dueAtMs],
  );
  for (const row of deferred) tx.due.add(address(row, "charged_to"), { amount: amount(row), dueAtMs });
}

// The same of charges that are due.
export async function deferOwn(tx: Tx, charges: readonly Row[], dueAtMs: number): Promise<void> {
  for (const chunk of chunksOf(charges)) {
    await tx.run(
      `UPDATE charges SET due_at = $1, attempts = attempts + 1, deferrals = deferrals + 1
       WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 2)}`,
      [dueAtMs, ...chunk.flatMap((charge) => [count(charge, "accrued_at"), hex(charge, "id")])],
    );
  }
  for (const charge of charges) tx.due.move(address(charge, "charged_to"));
}

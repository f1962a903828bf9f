import { SettlementError } from "../../domain/errors.ts";
import { hex, text } from "../database/decode.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { giveUp } from "../submissions/outcome/abandon.ts";
import { validTime } from "../validate.ts";
import type { Lease } from "./lease.ts";

// Gives a key up for good: what it had planned or signed and no block has is abandoned, and its charges are due again. Only for who
// has seen in a final block that the key may settle nothing and has settled none of these; in one transaction, so that
// nothing is due again of a key that is not retired. What is fenced off stays so until it is known what the key has settled. Returns
// how many submissions were given up.
export function retire({ operator }: Lease, nowMs: number) {
  validTime("now", nowMs);
  return async (tx: Tx): Promise<number> => {
    const open = await tx.all(
      "SELECT id, state FROM submissions WHERE operator = $1 AND state NOT IN ('final', 'abandoned') ORDER BY id",
      [operator],
    );
    const mined = open.find((row) => text(row, "state") === "included" || text(row, "state") === "reverted");
    if (mined !== undefined)
      throw new SettlementError("invalid_input", `submission ${mined.id} is mined and not final; nothing was changed`);
    for (const row of open) await giveUp(tx, hex(row, "id"), nowMs);
    await tx.run("UPDATE operators SET retired = 1 WHERE operator = $1", [operator]);
    return open.length;
  };
}

// Nobody waits for a retired key any more.
export function liftFence({ operator }: Lease) {
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE operators SET fence = 0 WHERE operator = $1 AND retired = 1", [operator]);
  };
}

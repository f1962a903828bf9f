import type { Hex } from "viem";
import type { MicroUsdc } from "../../../domain/money.ts";
import { isOfBatch } from "../../database/beginnings.ts";
import { address, amount, budgetId, count, text } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";

// Takes out of the ledger what a batch that the chain has undone was taken in with: the charges that it paid, waived or refused
// are due again, and nothing is left of it that no charge explains. If it is mined once more it is taken in once more.
export async function takeBackAdopted(tx: Tx, batchId: Hex, nowMs: number): Promise<number> {
  const ended = await tx.all(
    `SELECT state, payer, budget_id, charged_to, amount, cleared, owed, due_at FROM charges WHERE ${isOfBatch("$1")}`,
    [batchId],
  );
  for (const row of ended) {
    const own = row.charged_to === row.payer;
    const taken = amount(row);
    const state = text(row, "state");
    const sums = {
      batched: own ? { settled: negative(taken) } : { absorbed: negative(taken) },
      voided: { voided: negative(taken) },
      refused: { refused: negative(taken) },
    };
    tx.count(count(row, "due_at"), sums[state as keyof typeof sums]);
    if (own) {
      const settled = state === "batched" ? -taken : 0n;
      const owed = row.owed === 1n ? taken : 0n;
      tx.change(address(row, "payer"), { pending: taken, owed, settled, taken: settled }, budgetId(row));
    }
    // The platform pays for it after all.
    else if (state !== "batched" && row.cleared === 0n) tx.change(address(row, "payer"), { debt: taken });
    tx.due.add(address(row, "charged_to"), { amount: taken, dueAtMs: nowMs });
  }
  await tx.run(`UPDATE charges SET state = 'accrued', batch_id = NULL, due_at = $2 WHERE ${isOfBatch("$1")}`, [
    batchId,
    nowMs,
  ]);
  await tx.run("DELETE FROM unexplained_payments WHERE batch_id = $1", [batchId]);
  await tx.run("DELETE FROM earnings WHERE batch_id = $1", [batchId]);
  await tx.run("UPDATE batches SET outcome = NULL, final_at = NULL, adopted = 0 WHERE batch_id = $1", [batchId]);
  return ended.length;
}

// Only a sum can be reduced; no amount is ever negative.
export const negative = (value: MicroUsdc) => -value as MicroUsdc;

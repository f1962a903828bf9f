import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../../domain/batch/batch.ts";
import type { DueCharge } from "../../../domain/charges/charge.ts";
import { isChargedTo } from "../../database/chargedTo.ts";
import { address, amount, budgetId, count, hex, text } from "../../database/decode.ts";
import { chargeKeys, chunksOf, placeholders, type Row } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { outcomeFromJson } from "../outcome/outcomeJson.ts";
import { unpackReceipts } from "../receipts.ts";
import { lockSessionsOf, mayBeTaken, stopWaiting } from "./stopWaiting.ts";

export type Payment = { batchId: Hex; chargedTo: Address; toolId: string; amount: bigint };

// What was taken and is not explained yet, of one batch or from some accounts.
export async function listUnexplained(
  tx: Tx,
  of: { batchId: Hex } | { accounts: readonly Address[] },
): Promise<Payment[]> {
  const [condition, params] =
    "batchId" in of
      ? ["batch_id = $1", [of.batchId]]
      : [`charged_to IN (${placeholders(of.accounts.length)})`, [...of.accounts]];
  const rows = await tx.all(
    `SELECT batch_id, charged_to, tool_id, amount FROM unexplained_payments WHERE amount > 0 AND ${condition}
     ORDER BY charged_to, tool_id, batch_id ${tx.locks.forUpdate}`,
    params,
  );
  return rows.map((row) => ({
    batchId: hex(row, "batch_id"),
    chargedTo: address(row, "charged_to"),
    toolId: text(row, "tool_id"),
    amount: amount(row),
  }));
}

// What became of a batch that this ledger took in from the chain; null for one that it has followed there itself.
export async function findAdopted(tx: Tx, batchId: Hex): Promise<BatchOutcome | null> {
  const [row] = await tx.all(
    "SELECT outcome FROM batches WHERE batch_id = $1 AND adopted = 1 AND outcome IS NOT NULL",
    [batchId],
  );
  return row === undefined ? null : outcomeFromJson(text(row, "outcome"));
}

// The charges that a payment may have been for, oldest first; or only those of a batch that this ledger had made itself.
export async function selectPayable(tx: Tx, { batchId, chargedTo, toolId }: Payment, ofBatch: boolean): Promise<Row[]> {
  const payable = `state = 'accrued' AND ${isChargedTo("$1")} AND COALESCE(tool_id, '') = $2`;
  const locked = await lockSessionsOf(tx, `(SELECT * FROM charges WHERE ${payable})`, [chargedTo, toolId]);
  const charges = await tx.all(
    `SELECT * FROM charges WHERE ${payable} ${mayBeTaken(locked, 3)} ORDER BY accrued_at, id ${tx.locks.forUpdate}`,
    [chargedTo, toolId, ...(locked ?? [])],
  );
  if (!ofBatch) return charges;
  const [batch] = await tx.all("SELECT receipts FROM batches WHERE batch_id = $1", [batchId]);
  const own = new Set(unpackReceipts(text(batch ?? {}, "receipts")).map(({ chargeId }) => chargeId));
  return charges.filter((charge) => own.has(hex(charge, "id")));
}

// Pays these charges, in their order, for as long as the payment lasts, and returns their ids. The last one may be covered in
// part only: it is waived, because whoever paid a part must not be charged the whole on top. The rounding is the payer's.
export async function payFrom(tx: Tx, payment: Payment, charges: readonly Row[], nowMs: number): Promise<Hex[]> {
  let left = payment.amount;
  let kept = 0n;
  const paid: Row[] = [];
  const waived: Row[] = [];
  for (const charge of charges) {
    if (left === 0n) break;
    if (amount(charge) <= left) {
      paid.push(charge);
      left -= amount(charge);
      continue;
    }
    waived.push(charge);
    [kept, left] = [left, 0n];
  }
  const ended = [...paid, ...waived];
  if (ended.length === 0) return [];
  const waiting = ended.filter((charge) => charge.waiting === 1n);
  await stopWaiting(
    tx,
    waiting.map((charge) => ({ id: hex(charge, "id"), sessionId: text(charge, "session_id") })),
  );
  await endCharges(tx, paid, "paid", payment.batchId, nowMs);
  await endCharges(tx, waived, "waived", payment.batchId, nowMs);
  await tx.run(
    `UPDATE unexplained_payments SET amount = $4, kept = kept + $5
     WHERE batch_id = $1 AND charged_to = $2 AND tool_id = $3`,
    [payment.batchId, payment.chargedTo, payment.toolId, left, kept],
  );
  return ended.map((charge) => hex(charge, "id"));
}

const STATE_OF = { paid: "batched", waived: "voided", refused: "refused" };

// Due charges come to their end without being charged: a batch that this ledger did not make has paid them, or part of them.
export async function endCharges(
  tx: Tx,
  charges: readonly Row[],
  how: keyof typeof STATE_OF,
  batchId: Hex,
  nowMs: number,
): Promise<void> {
  for (const chunk of chunksOf(charges)) {
    await tx.run(
      // When that was is kept where it was due: whoever takes it back takes it out of the same moment of the time line.
      `UPDATE charges SET state = '${STATE_OF[how]}', batch_id = $1, due_at = $2
       WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 3)}`,
      [batchId, nowMs, ...chunk.flatMap((charge) => [count(charge, "accrued_at"), hex(charge, "id")])],
    );
  }
  for (const charge of charges) {
    const ended = amount(charge);
    tx.due.remove(address(charge, "charged_to"), { amount: ended });
    const own = charge.charged_to === charge.payer;
    if (own) {
      const settled = how === "paid" ? ended : 0n;
      const owed = charge.owed === 1n ? -ended : 0n;
      tx.change(address(charge, "payer"), { pending: -ended, owed, settled, taken: settled }, budgetId(charge));
    }
    // The platform has not paid for it after all.
    else if (how !== "paid" && charge.cleared === 0n) tx.change(address(charge, "payer"), { debt: -ended });
    const sums = {
      paid: own ? { settled: ended } : { absorbed: ended },
      waived: { voided: ended },
      refused: { refused: ended },
    };
    tx.count(nowMs, sums[how]);
  }
}

// Of charges that are due, those that were paid already, by a batch that this ledger did not make, are left out.
export async function withoutPaid<T extends DueCharge>(
  tx: Tx,
  due: readonly T[],
  nowMs: number,
): Promise<readonly T[]> {
  const accounts = [...new Set(due.map(({ chargedTo }) => chargedTo))];
  const ended = new Set<Hex>();
  for (const payment of accounts.length === 0 ? [] : await listUnexplained(tx, { accounts })) {
    const candidates = due.filter(
      (charge) =>
        charge.chargedTo === payment.chargedTo && toolIdOf(charge) === payment.toolId && !ended.has(charge.id),
    );
    for (const id of await payFrom(tx, payment, await rowsOf(tx, candidates), nowMs)) ended.add(id);
  }
  return ended.size === 0 ? due : due.filter(({ id }) => !ended.has(id));
}

const toolIdOf = ({ for: subject }: DueCharge): string => (subject.kind === "tool" ? subject.toolId : "");

// Everything about charges that are due, in their order.
export async function rowsOf(tx: Tx, due: readonly Pick<DueCharge, "id" | "accruedAtMs">[]): Promise<Row[]> {
  const found = new Map<string, Row>();
  for (const chunk of chunksOf(due)) {
    const rows = await tx.all(
      `SELECT * FROM charges WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 1)}`,
      chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id]),
    );
    for (const row of rows) found.set(hex(row, "id"), row);
  }
  return due.map(({ id }) => found.get(id)).filter((row) => row !== undefined);
}

import type { Address, Hex } from "viem";
import { type DueCharge, partIdOf } from "../../../domain/charges/charge.ts";
import { microUsdc, smaller } from "../../../domain/money.ts";
import { isChargedTo } from "../../database/beginnings.ts";
import { address, amount, budgetId, count, hex, text } from "../../database/decode.ts";
import { chargeKeys, chunksOf, placeholders, type Row } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { readReceipts } from "../receipts.ts";
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

// Whether this ledger took a batch in from the chain, and has not followed it there itself.
export async function isAdopted(tx: Tx, batchId: Hex): Promise<boolean> {
  const rows = await tx.all("SELECT 1 FROM batches WHERE batch_id = $1 AND adopted = 1", [batchId]);
  return rows.length > 0;
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
  const own = new Set((await readReceipts(tx, batchId)).map(({ chargeId }) => chargeId));
  return charges.filter((charge) => own.has(hex(charge, "id")));
}

// Pays these charges, in their order, for as long as the payment lasts, and returns what is left of each. The last one may be covered
// in part only. Then it is divided: what was taken for it is paid, and the rest is owed as before, so that nobody pays for more than
// was delivered, and nobody gets more for nothing than was taken.
export async function payFrom(
  tx: Tx,
  payment: Payment,
  charges: readonly Row[],
  nowMs: number,
): Promise<Map<Hex, bigint>> {
  const leftOf = new Map<Hex, bigint>();
  const paid: Row[] = [];
  let left = payment.amount;
  for (const charge of charges) {
    if (left === 0n) break;
    const covered = smaller(amount(charge), left);
    leftOf.set(hex(charge, "id"), amount(charge) - covered);
    paid.push(covered < amount(charge) ? await divide(tx, charge, covered, nowMs) : charge);
    left -= covered;
  }
  if (paid.length === 0) return leftOf;
  const waiting = charges.filter((charge) => charge.waiting === 1n && leftOf.has(hex(charge, "id")));
  await stopWaiting(
    tx,
    waiting.map((charge) => ({ id: hex(charge, "id"), sessionId: text(charge, "session_id") })),
  );
  await endCharges(tx, paid, payment.batchId, nowMs);
  await tx.run("UPDATE unexplained_payments SET amount = $4 WHERE batch_id = $1 AND charged_to = $2 AND tool_id = $3", [
    payment.batchId,
    payment.chargedTo,
    payment.toolId,
    left,
  ]);
  return leftOf;
}

// What both parts of a charge say alike.
const ALIKE =
  "turn_id, session_id, call_id, tool_id, calls, payer, budget_id, charged_to, request_hash, response_hash, schema_hash, " +
  "accrued_at, attempts, deferrals, state, due_at, cleared, owed";

// Takes a part out of a charge that is due, as a charge of its own, and returns that. What is known of the delivery goes on under the
// name of the rest.
async function divide(tx: Tx, charge: Row, covered: bigint, nowMs: number): Promise<Row> {
  const key = [count(charge, "accrued_at"), hex(charge, "id")] as const;
  const left = amount(charge) - covered;
  const id = partIdOf(hex(charge, "id"), left);
  await tx.run(
    `INSERT INTO charges (id, amount, waiting, ${ALIKE})
     SELECT CAST($3 AS TEXT), CAST($4 AS BIGINT), 0, ${ALIKE} FROM charges WHERE accrued_at = $1 AND id = $2`,
    [...key, id, covered],
  );
  await tx.run("UPDATE charges SET amount = $3 WHERE accrued_at = $1 AND id = $2", [...key, left]);
  tx.due.add(address(charge, "charged_to"), { amount: 0n, dueAtMs: count(charge, "due_at") });
  tx.count(nowMs, { accruedCharges: 1 });
  return { ...charge, id, amount: covered };
}

// Due charges come to their end without being charged: a batch that this ledger did not make has paid them.
async function endCharges(tx: Tx, charges: readonly Row[], batchId: Hex, nowMs: number): Promise<void> {
  for (const chunk of chunksOf(charges)) {
    await tx.run(
      // When that was is kept where it was due: whoever takes it back takes it out of the same moment of the time line.
      `UPDATE charges SET state = 'batched', batch_id = $1, due_at = $2
       WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 3)}`,
      [batchId, nowMs, ...chunk.flatMap((charge) => [count(charge, "accrued_at"), hex(charge, "id")])],
    );
  }
  for (const charge of charges) {
    const settled = amount(charge);
    tx.due.remove(address(charge, "charged_to"), { amount: settled });
    if (charge.charged_to !== charge.payer) tx.count(nowMs, { absorbed: settled });
    else {
      const owed = charge.owed === 1n ? -settled : 0n;
      tx.change(address(charge, "payer"), { pending: -settled, owed, settled, taken: settled }, budgetId(charge));
      tx.count(nowMs, { settled });
    }
  }
}

// Of charges that are due, what was paid already, by a batch that this ledger did not make, is left out.
export async function withoutPaid<T extends DueCharge>(
  tx: Tx,
  due: readonly T[],
  nowMs: number,
): Promise<readonly T[]> {
  const accounts = [...new Set(due.map(({ chargedTo }) => chargedTo))];
  const leftOf = new Map<Hex, bigint>();
  for (const payment of accounts.length === 0 ? [] : await listUnexplained(tx, { accounts })) {
    const candidates = due.filter(
      (charge) =>
        charge.chargedTo === payment.chargedTo && toolIdOf(charge) === payment.toolId && leftOf.get(charge.id) !== 0n,
    );
    const paid = await payFrom(tx, payment, await rowsOf(tx, candidates), nowMs);
    for (const [id, left] of paid) leftOf.set(id, left);
  }
  if (leftOf.size === 0) return due;
  return due.flatMap((charge) => {
    const left = leftOf.get(charge.id) ?? charge.amount;
    return left === 0n ? [] : [{ ...charge, amount: microUsdc(left) }];
  });
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

import type { Address, Hex } from "viem";
import type { Batch, Net } from "../../domain/batch.ts";
import type { DueCharge } from "../../domain/charge.ts";
import { SettlementError } from "../../domain/errors.ts";
import type { Submission } from "../../domain/submission.ts";
import { dueChargeFrom, text } from "../decode.ts";
import type { Lease, RetryPolicy } from "../ledger.ts";
import { chargeKeys, chunksOf, type Param, placeholders, type Row, tuples } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { lower } from "../validate.ts";
import { failCharges } from "./failCharges.ts";
import { requireLease } from "./operators.ts";
import { findSubmission, requireSubmission } from "./submissions.ts";

export type PlanRequest = {
  accounts: readonly Address[];
  maxCharges: number;
  router: Address;
  net: Net;
  retry: RetryPolicy;
};

export async function planBatch(
  tx: Tx,
  lease: Lease,
  { accounts, maxCharges, router, net, retry }: PlanRequest,
  nowMs: number,
): Promise<Submission | null> {
  await requireLease(tx, lease);
  const charges = await takeDue(tx, accounts, maxCharges, nowMs);
  if (charges.length === 0) return null;

  const { batch, unpayable } = net(charges);
  const taken = new Map(charges.map((charge) => [charge.id, charge]));
  const failed = unpayable.map(({ chargeId, reason }) => ({ ...takenOf(taken, chargeId), reason }));
  await failCharges(tx, failed, retry, nowMs);
  if (batch === null) return null;

  const batched = batch.receipts.map(({ chargeId }) => takenOf(taken, chargeId));
  await storeBatch(tx, lease.operator, lower(router), batch, nowMs);
  for (const chunk of chunksOf(batched)) {
    await tx.run(
      `UPDATE charges SET state = 'batched', root = $1
       WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 2)}`,
      [batch.root, ...chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id])],
    );
  }
  return requireSubmission(tx, batch.root);
}

// Due charges that nobody else is taking at this moment. They stay locked until the commit.
async function takeDue(tx: Tx, accounts: readonly Address[], limit: number, nowMs: number): Promise<DueCharge[]> {
  if (accounts.length === 0) return [];
  const rows = await tx.all(
    `SELECT * FROM charges
     WHERE state = 'accrued' AND due_at <= $1 AND charged_to IN (${placeholders(accounts.length, 3)})
     ORDER BY due_at, id
     LIMIT $2 ${tx.locks.skipLocked}`,
    [nowMs, limit, ...accounts.map(lower)],
  );
  await stopWaiting(tx, rows);
  return rows.map(dueChargeFrom);
}

// A session's charge that got too old before its session was flushed no longer waits, and its session no longer counts it.
async function stopWaiting(tx: Tx, rows: readonly Row[]): Promise<void> {
  const waiting = rows.filter((row) => row.waiting === 1n);
  for (const [sessionId, charges] of Map.groupBy(waiting, (row) => text(row, "session_id"))) {
    for (const chunk of chunksOf(charges)) {
      await tx.run(
        `UPDATE charges SET waiting = 0
         WHERE waiting = 1 AND session_id = $1 AND id IN (${placeholders(chunk.length, 2)})`,
        [sessionId, ...chunk.map((row) => text(row, "id"))],
      );
    }
    await tx.run(
      `UPDATE sessions SET
         waiting_count = (SELECT COUNT(*) FROM charges WHERE session_id = $1 AND waiting = 1),
         waiting_amount = (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM charges WHERE session_id = $1 AND waiting = 1),
         waiting_since = (SELECT MIN(accrued_at) FROM charges WHERE session_id = $1 AND waiting = 1)
       WHERE id = $1`,
      [sessionId],
    );
  }
}

function takenOf(taken: ReadonlyMap<Hex, DueCharge>, id: Hex): DueCharge {
  const charge = taken.get(id);
  if (charge === undefined) throw new SettlementError("invalid_input", `Netting made up the charge ${id}.`);
  return charge;
}

// Charges that were released make the same batch, with the same root, when they are netted again. It then begins anew:
// with another nonce and without the signed bytes that came to nothing.
async function storeBatch(tx: Tx, operator: Address, router: Address, batch: Batch, nowMs: number): Promise<void> {
  const { root, rows, receipts, total, calldata } = batch;
  const before = await findSubmission(tx, root);
  if (before !== null && before.state.kind !== "released") {
    throw new SettlementError("drift", `Batch ${root} is ${before.state.kind}, yet its charges are due.`);
  }
  await tx.run(
    `INSERT INTO submissions (id, kind, operator, nonce, recipient, calldata, gas_limit, created_at, state)
     VALUES ($1, 'settle', $2, NULL, $3, $4, 0, $5, 'planned')
     ON CONFLICT (id) DO UPDATE SET operator = excluded.operator, nonce = NULL, recipient = excluded.recipient,
       calldata = excluded.calldata, gas_limit = 0, created_at = excluded.created_at, state = 'planned',
       tx_hash = NULL, block_number = NULL, block_hash = NULL`,
    [root, operator, router, calldata, nowMs],
  );
  await tx.run(
    `INSERT INTO batches (root, row_count, charge_count, total, outcome, created_at) VALUES ($1, $2, $3, $4, NULL, $5)
     ON CONFLICT (root) DO UPDATE SET outcome = NULL, created_at = excluded.created_at`,
    [root, rows.length, receipts.length, total, nowMs],
  );
  if (before === null) {
    for (const chunk of chunksOf(receipts.map((receipt, position) => ({ ...receipt, position })))) {
      const params: Param[] = [];
      for (const { position, chargeId, leaf } of chunk) params.push(root, position, chargeId, leaf);
      await tx.run(`INSERT INTO receipts (root, position, charge_id, leaf) VALUES ${tuples(chunk.length, 4)}`, params);
    }
  }
}

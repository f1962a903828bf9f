import type { Address, Hex } from "viem";
import type { Batch, ChargeFailure, Net } from "../../../domain/batch/batch.ts";
import type { Submission } from "../../../domain/batch/submission.ts";
import type { DueCharge } from "../../../domain/charges/charge.ts";
import { SettlementError } from "../../../domain/errors.ts";
import { sumOf } from "../../../domain/money.ts";
import type { BudgetKey } from "../../../domain/payer/budget.ts";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
import { readBudgets } from "../../budgets/draw.ts";
import { isChargedToAny } from "../../database/beginnings.ts";
import { hex } from "../../database/decode.ts";
import { CHUNK, chargeKeys, chunksOf } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { requireOpen } from "../../operators/home.ts";
import type { Lease } from "../../operators/lease.ts";
import { validAddress, validCount, validTime } from "../../validate.ts";
import { isAdopted, rowsOf } from "../adopt/payFromUnexplained.ts";
import { requireSubmission, submissionOf } from "../findSubmission.ts";
import { deferOwn } from "../outcome/deferCharges.ts";
import { failCharges, failedChargeFrom, type RetryPolicy } from "../outcome/failCharges.ts";
import { packReceipts } from "../receipts.ts";
import { fillSegment } from "./fillSegment.ts";
import { type Part, takeDue } from "./takeDue.ts";

export type PlanRequest = {
  accounts: readonly Address[];
  // Of accounts that are not among the others.
  parts?: readonly Part[];
  maxCharges: number;
  router: Address;
  // Pure: it is called again if the transaction must be repeated.
  net: Net;
  retry: RetryPolicy;
};

// Takes the due charges of these accounts (at most `maxCharges`, longest waiting first), lets `net` make a batch of them, and
// stores the batch, its receipts and its planned submission. Charges that `net` calls unpayable fail once. Null if no batch
// came out.
export function planBatch(lease: Lease, request: PlanRequest, nowMs: number) {
  const { net, retry } = request;
  const accounts = request.accounts.map((account) => validAddress("the account", account));
  const parts = (request.parts ?? []).map((part) => ({ ...part, account: validAddress("the account", part.account) }));
  const maxCharges = validCount("the most charges", request.maxCharges);
  const router = validAddress("the router", request.router);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Submission | null> => {
    await requireOpen(tx);
    // A batch has thousands of charges: between the steps that it takes others are read, heard and answered.
    await letOthersRun();
    const { charges, wholeOf } = await takeDue(tx, { accounts, parts }, maxCharges, nowMs);
    if (charges.length === 0) return null;

    await letOthersRun();
    // Read after the charges: whatever was signed for them is among it.
    const drawn: BudgetKey[] = [];
    for (const { payer, budgetId } of charges) if (budgetId !== null) drawn.push({ payer, id: budgetId });
    const { batch, unpayable } = await net(charges, await readBudgets(tx, drawn));
    const taken = new Map<Hex, DueCharge>();
    for (const charge of charges) taken.set(charge.id, charge);
    const failing = await rowsOf(
      tx,
      unpayable.map(({ chargeId }) => takenOf(taken, chargeId)),
    );
    const reasonOf = new Map(unpayable.map(({ chargeId, reason }) => [chargeId, reason]));
    const failed = failing.map((row) => failedChargeFrom(row, reasonOf.get(hex(row, "id")) as ChargeFailure));
    for (const charge of failed) tx.due.remove(charge.chargedTo, charge);
    await failCharges(tx, failed, retry, nowMs);
    if (batch === null) return null;

    const batched = batch.receipts.map(({ chargeId }) => takenOf(taken, chargeId));
    const before = await submissionOf(tx, batch.batchId);
    // What it took was set against what was due then, these charges or others, so that these are still owed; and the chain has their
    // root. Attempts are part of a receipt: one charge that was put off once more makes another batch.
    if (before?.state.kind === "final" && (await isAdopted(tx, batch.batchId))) {
      await deferOwn(tx, await rowsOf(tx, batched.slice(0, 1)), nowMs);
      return null;
    }

    await storeBatch(tx, lease.operator, router, batch, before, nowMs);
    const batchedOf = Map.groupBy(batched, ({ chargedTo }) => chargedTo);
    for (const [account, own] of batchedOf) {
      tx.due.remove(account, { amount: sumOf(own.map(({ amount }) => amount)) }, own.length);
    }
    const marked = { batchId: batch.batchId, segment: await fillSegment(tx, lease, batched.length) };
    await letOthersRun();
    // Charges that fail in this transaction may be due again, of whatever account.
    if (failed.length === 0) await markWhole(tx, marked, wholeOf, batchedOf, nowMs);
    else await mark(tx, marked, batched);
    return requireSubmission(tx, batch.batchId);
  };
}

// What a charge is marked with: its batch, and the segment of the index in which its id is found from now on.
type Mark = { batchId: Hex; segment: number };

async function mark(tx: Tx, { batchId, segment }: Mark, charges: readonly DueCharge[]): Promise<void> {
  const chunks = chunksOf(charges);
  for (const chunk of chunks) {
    await tx.run(
      `UPDATE charges SET state = 'batched', batch_id = $1, segment = $2
       WHERE state = 'accrued' AND (accrued_at, id) IN ${chargeKeys(chunk.length, 3)}`,
      [batchId, segment, ...chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id])],
    );
    if (chunk !== chunks.at(-1)) await letOthersRun();
  }
}

// The same where nobody else writes and everything that is due was read. Accounts of which the batch has all of that are
// marked account by account, which takes half as long as charge by charge.
async function markWhole(
  tx: Tx,
  { batchId, segment }: Mark,
  wholeOf: ReadonlyMap<Address, number>,
  batchedOf: ReadonlyMap<Address, readonly DueCharge[]>,
  nowMs: number,
): Promise<void> {
  const rest: DueCharge[] = [];
  let together: Address[] = [];
  let charges = 0;
  const markTogether = async () => {
    const marked = await tx.run(
      `UPDATE charges SET state = 'batched', batch_id = $1, segment = $2
       WHERE state = 'accrued' AND due_at <= $3 AND ${isChargedToAny(together.length, 4)}`,
      [batchId, segment, nowMs, ...together],
    );
    if (marked !== charges) throw new SettlementError("drift", `${marked} charges are due where ${charges} were read`);
    [together, charges] = [[], 0];
    await letOthersRun();
  };
  for (const [account, own] of batchedOf) {
    if (own.length > MARKED_AT_ONCE || own.length !== wholeOf.get(account)) {
      rest.push(...own);
      continue;
    }
    if (charges + own.length > MARKED_AT_ONCE || together.length === CHUNK) await markTogether();
    together.push(account);
    charges += own.length;
  }
  if (together.length > 0) await markTogether();
  await mark(tx, { batchId, segment }, rest);
}

// Some milliseconds.
const MARKED_AT_ONCE = 1_000;

function takenOf(taken: ReadonlyMap<Hex, DueCharge>, id: Hex): DueCharge {
  const charge = taken.get(id);
  if (charge === undefined) throw new SettlementError("invalid_input", `netting made up the charge ${id}`);
  return charge;
}

// Charges that were abandoned make the same batch, with the same root, when they are netted again. It then starts over:
// with another nonce and without the signed bytes that came to nothing.
async function storeBatch(
  tx: Tx,
  operator: Address,
  router: Address,
  batch: Batch,
  before: Submission | null,
  nowMs: number,
): Promise<void> {
  const { batchId, rows, receipts, total, calldata } = batch;
  if (before !== null && before.state.kind !== "abandoned") {
    throw new SettlementError("drift", `batch ${batchId} is ${before.state.kind}, yet its charges are due`);
  }
  await tx.run(
    `INSERT INTO submissions (id, kind, operator, nonce, recipient, calldata, gas_limit, created_at, state)
     VALUES ($1, 'settle', $2, NULL, $3, $4, 0, $5, 'planned')
     ON CONFLICT (id) DO UPDATE SET operator = excluded.operator, nonce = NULL, recipient = excluded.recipient,
       calldata = excluded.calldata, gas_limit = 0, created_at = excluded.created_at, state = 'planned',
       tx_hash = NULL, block_number = NULL, block_hash = NULL`,
    [batchId, operator, router, calldata, nowMs],
  );
  await tx.run(
    `INSERT INTO batches (batch_id, row_count, charge_count, total, outcome, created_at)
     VALUES ($1, $2, $3, $4, NULL, $5)
     ON CONFLICT (batch_id) DO UPDATE SET outcome = NULL, created_at = excluded.created_at, final_at = NULL, adopted = 0,
       row_count = excluded.row_count, charge_count = excluded.charge_count, total = excluded.total`,
    [batchId, rows.length, receipts.length, total, nowMs],
  );
  await tx.run(
    `INSERT INTO receipts (batch_id, receipts) VALUES ($1, $2)
     ON CONFLICT (batch_id) DO UPDATE SET receipts = excluded.receipts`,
    [batchId, packReceipts(receipts)],
  );
}

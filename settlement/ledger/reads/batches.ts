import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import type { Inclusion, SubmissionState } from "../../domain/batch/submission.ts";
import { larger, type MicroUsdc, microUsdc } from "../../domain/money.ts";
import { isOfBatch } from "../database/beginnings.ts";
import { address, amount, count, hex, integer, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import { inclusionFrom } from "../submissions/decode.ts";
import { outcomeFromJson } from "../submissions/outcome/outcomeJson.ts";
import { readReceipts, type StoredReceipt } from "../submissions/receipts.ts";
import { lower, validCount } from "../validate.ts";
import { statsOfAll } from "./totals.ts";

export type SettledBatch = {
  batchId: Hex;
  operator: Address;
  state: SubmissionState["kind"];
  rows: number;
  charges: number;
  total: MicroUsdc;
  outcome: BatchOutcome | null;
  inclusion: Inclusion | null;
  createdAtMs: number;
  finalAtMs: number | null;
};

// `upTo` is the newest block that one of them is in.
export type FinalBatches = { batchIds: ReadonlySet<Hex>; charged: MicroUsdc; upTo: bigint };

const BATCHES = `SELECT b.batch_id, b.row_count, b.charge_count, b.total, b.outcome, b.created_at, s.operator, s.state,
    b.final_at, s.tx_hash, s.block_number, s.block_hash, s.gas_used
  FROM batches b JOIN submissions s ON s.id = b.batch_id`;

export function findBatch(batchId: Hex) {
  return async (sql: Reader): Promise<SettledBatch | null> => {
    const [row] = await sql.all(`${BATCHES} WHERE b.batch_id = $1`, [lower(batchId)]);
    return row === undefined ? null : batchFrom(row);
  };
}

// Newest first.
export function listBatches(limit: number, offset: number) {
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<SettledBatch[]> => {
    const rows = await sql.all(`${BATCHES} ORDER BY b.created_at DESC, b.batch_id DESC LIMIT $1 OFFSET $2`, page);
    return rows.map(batchFrom);
  };
}

// The leaves of a batch as it was built, whatever became of its charges later.
export function listReceipts(batchId: Hex) {
  return (sql: Reader): Promise<StoredReceipt[]> => readReceipts(sql, lower(batchId));
}

// The accounts that a batch charges.
export function listAccounts(batchId: Hex) {
  return async (sql: Reader): Promise<Address[]> => {
    const rows = await sql.all(`SELECT DISTINCT charged_to FROM charges WHERE ${isOfBatch("$1")} ORDER BY charged_to`, [
      lower(batchId),
    ]);
    return rows.map((row) => address(row, "charged_to"));
  };
}

// Every batch that is final, and what they have charged together: of one moment.
export function readFinalBatches() {
  return async (sql: Reader): Promise<FinalBatches> => {
    const rows = await sql.all("SELECT id, block_number FROM submissions WHERE kind = 'settle' AND state = 'final'");
    const { settled, absorbed } = await statsOfAll(sql);
    // `kept` is of an earlier version, which waived charges that a payment did not cover whole.
    const [unexplained = {}] = await sql.all(
      "SELECT CAST(COALESCE(SUM(amount + kept), 0) AS BIGINT) AS amount FROM unexplained_payments",
    );
    const charged = microUsdc(settled + absorbed + amount(unexplained));
    const upTo = rows.map((row) => integer(row, "block_number")).reduce(larger, 0n);
    return { batchIds: new Set(rows.map((row) => hex(row, "id"))), charged, upTo };
  };
}

function batchFrom(row: Row): SettledBatch {
  return {
    batchId: hex(row, "batch_id"),
    operator: address(row, "operator"),
    state: text(row, "state") as SettledBatch["state"],
    rows: count(row, "row_count"),
    charges: count(row, "charge_count"),
    total: amount(row, "total"),
    outcome: row.outcome === null ? null : outcomeFromJson(text(row, "outcome")),
    inclusion: inclusionFrom(row),
    createdAtMs: count(row, "created_at"),
    finalAtMs: row.final_at === null ? null : count(row, "final_at"),
  };
}

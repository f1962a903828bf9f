import type { Address, Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Broadcast, Submission } from "../../domain/submission.ts";
import { broadcastFrom, hex, submissionFrom } from "../decode.ts";
import type { Lease } from "../ledger.ts";
import type { Reader, Row } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { requireLease } from "./operators.ts";

export async function findSubmission(sql: Reader, id: Hex): Promise<Submission | null> {
  const [submission] = await withBroadcasts(sql, "s.id = $1", [id]);
  return submission ?? null;
}

export async function requireSubmission(sql: Reader, id: Hex): Promise<Submission> {
  const submission = await findSubmission(sql, id);
  if (submission === null) throw new SettlementError("invalid_input", `There is no submission ${id}.`);
  return submission;
}

// The submission that a lease is used for. One operator's lease says nothing about another one's submissions.
export async function leasedSubmission(tx: Tx, lease: Lease, id: Hex): Promise<Submission> {
  await requireLease(tx, lease);
  const submission = await requireSubmission(tx, id);
  if (submission.operator !== lease.operator) {
    throw new SettlementError(
      "fenced",
      `Submission ${id} is of ${submission.operator}, the lease of ${lease.operator}.`,
    );
  }
  return submission;
}

export async function openSubmissions(sql: Reader, operator: Address): Promise<Submission[]> {
  return withBroadcasts(sql, "s.operator = $1 AND s.state NOT IN ('final', 'released')", [operator]);
}

// One statement, so that both parts are of the same moment.
async function withBroadcasts(sql: Reader, condition: string, params: readonly string[]): Promise<Submission[]> {
  const rows = await sql.all(
    `SELECT s.id, s.kind, s.operator, s.nonce, s.recipient, s.calldata, s.gas_limit, s.created_at, s.state, s.tx_hash,
       s.block_number, s.block_hash, s.gas_used, b.tx_hash AS broadcast_tx_hash, b.raw, b.max_fee_per_gas,
       b.max_priority_fee_per_gas, b.signed_at
     FROM submissions s LEFT JOIN broadcasts b ON b.submission_id = s.id AND b.nonce = s.nonce
     WHERE ${condition}
     ORDER BY s.nonce NULLS LAST, s.created_at, s.id, b.position`,
    params,
  );
  const groups = Map.groupBy(rows, (row) => hex(row, "id"));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [submissionFrom(first, group.flatMap(broadcastOf))];
  });
}

function broadcastOf(row: Row): Broadcast[] {
  if (row.broadcast_tx_hash === null) return [];
  return [broadcastFrom({ ...row, tx_hash: row.broadcast_tx_hash ?? null })];
}

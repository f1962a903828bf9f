import type { Address, Hex } from "viem";
import type { Broadcast, Submission, SubmissionKind, SubmissionState } from "../../domain/batch/submission.ts";
import { SettlementError } from "../../domain/errors.ts";
import { count, hex, integer, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Lease } from "../operators/lease.ts";
import { lower, validCount, validHash } from "../validate.ts";
import { broadcastFrom, submissionFrom } from "./decode.ts";

export function findSubmission(id: Hex) {
  return (sql: Reader): Promise<Submission | null> => submissionOf(sql, lower(id));
}

// What this operator has planned or sent and no block has, by nonce; planned ones without a nonce come last.
export function listUnmined(operator: Address) {
  return (sql: Reader): Promise<Submission[]> =>
    withBroadcasts(sql, "s.operator = $1 AND s.state IN ('planned', 'submitted')", [lower(operator)]);
}

// Mined with success or without, and not final. Of these there are hundreds at a time, so that no bytes come with them.
export type Mined = { id: Hex; blockNumber: bigint; blockHash: Hex };

// Newest first.
export function listMinedAbove(operator: Address, block: bigint) {
  return async (sql: Reader): Promise<Mined[]> => {
    const rows = await sql.all(`${MINED} AND block_number > $2 ORDER BY block_number DESC, nonce DESC`, [
      lower(operator),
      block,
    ]);
    return rows.map(minedFrom);
  };
}

// Oldest first.
export function listMinedUpTo(operator: Address, block: bigint) {
  return async (sql: Reader): Promise<Mined[]> => {
    const rows = await sql.all(`${MINED} AND block_number <= $2 ORDER BY block_number, nonce`, [
      lower(operator),
      block,
    ]);
    return rows.map(minedFrom);
  };
}

const MINED = `SELECT id, block_number, block_hash FROM submissions
  WHERE operator = $1 AND state IN ('included', 'reverted')`;

function minedFrom(row: Row): Mined {
  return { id: hex(row, "id"), blockNumber: integer(row, "block_number"), blockHash: hex(row, "block_hash") };
}

// A submission as people look at it, with the hash of the transaction that was mined or sent last.
export type OpenSubmission = {
  id: Hex;
  kind: SubmissionKind;
  nonce: number | null;
  state: SubmissionState["kind"];
  createdAtMs: number;
  txHash: Hex | null;
};

// The newest of what is not final or abandoned, oldest first; planned ones without a nonce come last.
export function listOpenSubmissions(operator: Address, limit: number) {
  validCount("the limit", limit);
  return async (sql: Reader): Promise<OpenSubmission[]> => {
    const rows = await sql.all(
      `SELECT s.id, s.kind, s.nonce, s.state, s.created_at, COALESCE(s.tx_hash,
         (SELECT b.tx_hash FROM broadcasts b
          WHERE b.submission_id = s.id AND b.operator = s.operator AND b.nonce = s.nonce
          ORDER BY b.position DESC LIMIT 1)) AS tx_hash
       FROM submissions s WHERE s.operator = $1 AND s.state NOT IN ('final', 'abandoned')
       ORDER BY s.nonce DESC NULLS FIRST, s.created_at DESC, s.id DESC LIMIT $2`,
      [lower(operator), limit],
    );
    return rows.reverse().map((row) => ({
      id: hex(row, "id"),
      kind: text(row, "kind") as SubmissionKind,
      nonce: row.nonce === null ? null : count(row, "nonce"),
      state: text(row, "state") as SubmissionState["kind"],
      createdAtMs: count(row, "created_at"),
      txHash: row.tx_hash === null ? null : hex(row, "tx_hash"),
    }));
  };
}

export async function submissionOf(sql: Reader, id: Hex): Promise<Submission | null> {
  const [submission] = await withBroadcasts(sql, "s.id = $1", [id]);
  return submission ?? null;
}

export async function requireSubmission(sql: Reader, id: Hex): Promise<Submission> {
  const submission = await submissionOf(sql, id);
  if (submission === null) throw new SettlementError("invalid_input", `there is no submission ${id}`);
  return submission;
}

// The submission that a lease is used for. One operator's lease says nothing about another one's submissions.
export async function ownSubmission(tx: Tx, { operator }: Lease, id: Hex): Promise<Submission> {
  const submission = await requireSubmission(tx, id);
  if (submission.operator === operator) return submission;
  throw new SettlementError("fenced", `submission ${id} is of ${submission.operator}, the lease of ${operator}`);
}

export const validId = (id: Hex) => validHash("the submission's id", id);

// One statement, so that both parts are of the same moment.
async function withBroadcasts(sql: Reader, condition: string, params: readonly string[]): Promise<Submission[]> {
  const rows = await sql.all(
    `SELECT s.id, s.kind, s.operator, s.nonce, s.recipient, s.calldata, s.gas_limit, s.created_at, s.state, s.tx_hash,
       s.block_number, s.block_hash, s.gas_used, b.tx_hash AS broadcast_tx_hash, b.raw, b.max_fee_per_gas,
       b.max_priority_fee_per_gas, b.signed_at
     FROM submissions s LEFT JOIN broadcasts b
       ON b.submission_id = s.id AND b.operator = s.operator AND b.nonce = s.nonce
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

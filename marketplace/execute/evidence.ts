import type { Address } from "viem";
import { count, text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Row, Sql } from "../../settlement/ledger/database/sql.ts";
import { toStorable } from "../../settlement/ledger/database/storable.ts";
import type { Hashes } from "../settlement/createSettlementClient.ts";
import { isHandedOver } from "./answer.ts";

// An answer that is something else than its method promises.
export type Evidence = {
  callId: string;
  toolId: string;
  method: string;
  account: Address;
  hashes: Hashes;
  problem: string;
  // As JSON.
  request: string;
  response: string;
  outputSchema: string;
  // With which the tool has signed it, if it signs its answers.
  signedAnswer: unknown;
};

const MAX_KEPT_LENGTH = 1024 * 1024;
// Of one tool in a day. More of the same proves nothing more, and a tool that was caught before can be caught again. What is signed
// is counted for itself, so that nobody fills the day with what convicts nobody.
const MAX_PER_DAY = 100;
// What those take in all. What comes above it is kept without its texts, which whoever was given them has.
const MAX_LENGTH_PER_DAY = 8 * 1024 * 1024;
const DAY_MS = 24 * 3_600_000;
// The court hears of an answer for 3 days, and a stake can be slashed for 7 after its owner has asked for it.
const KEPT_MS = 30 * DAY_MS;

export async function keepEvidence(sql: Sql, evidence: Evidence, nowMs: number): Promise<void> {
  const { callId, toolId, method, account, hashes, problem, request, response, outputSchema, signedAnswer } = evidence;
  const signed = signedTextOf(signedAnswer);
  const [row] = await sql.all(
    `SELECT SUM(LENGTH(COALESCE(request, '')) + LENGTH(COALESCE(response, '')) + LENGTH(output_schema)) AS length
     FROM evidence WHERE tool_id = $1 AND at > $2 AND (signed_answer IS NULL) = (CAST($3 AS TEXT) IS NULL)`,
    [toolId, nowMs - DAY_MS, signed],
  );
  const length = Number(row?.length ?? 0) + request.length + response.length + outputSchema.length;
  const isWhole = length <= MAX_LENGTH_PER_DAY;
  await sql.run(
    `INSERT INTO evidence (call_id, tool_id, method, account, at, request_hash, response_hash, schema_hash, problems, request,
       response, output_schema, signed_answer)
     SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), $6, $7, $8, $9, $10, $11, $12, CAST($13 AS TEXT)
     WHERE (SELECT COUNT(*) FROM evidence WHERE tool_id = $2 AND at > CAST($5 AS BIGINT) - ${DAY_MS}
         AND (signed_answer IS NULL) = (CAST($13 AS TEXT) IS NULL)) < ${MAX_PER_DAY}
     ON CONFLICT (call_id) DO NOTHING`,
    [
      callId,
      toolId,
      method,
      account,
      nowMs,
      hashes.requestHash,
      hashes.responseHash,
      hashes.schemaHash,
      toStorable(problem),
      isWhole ? keptOf(request) : null,
      isWhole ? keptOf(response) : null,
      isWhole ? outputSchema : "null",
      signed,
    ],
  );
}

// What is longer than any signature of an answer is none.
const signedTextOf = (signedAnswer: unknown): string | null =>
  isHandedOver(signedAnswer) ? toStorable(JSON.stringify(signedAnswer)) : null;

// Forgets what no court hears of any more.
export async function forgetEvidence(sql: Sql, nowMs: number, limit: number): Promise<number> {
  return sql.run(
    `DELETE FROM evidence WHERE call_id IN (SELECT call_id FROM evidence WHERE at < $1 ORDER BY at LIMIT ${limit})`,
    [nowMs - KEPT_MS],
  );
}

// What is told of it in a list.
export type EvidenceSummary = {
  callId: string;
  toolId: string;
  method: string;
  atMs: number;
  problem: string;
  // Whether there is all that a conviction needs.
  isSigned: boolean;
};

// As JSON values; undefined where it was too large to be kept.
export type KeptEvidence = EvidenceSummary & { request: unknown; content: unknown; schema: unknown; answer: unknown };

const SUMMARY = `call_id, tool_id, method, at, problems,
  CASE WHEN signed_answer IS NULL OR response IS NULL THEN 0 ELSE 1 END AS is_signed`;

// Newest first: what one account was given, what one tool has answered, or all of it.
export async function listEvidence(
  sql: Reader,
  of: { account: Address } | { toolId: string } | null,
  limit: number,
): Promise<EvidenceSummary[]> {
  const order = "ORDER BY at DESC, call_id";
  if (of === null)
    return (await sql.all(`SELECT ${SUMMARY} FROM evidence ${order} LIMIT $1`, [limit])).map(summaryFrom);
  const [column, value] = "account" in of ? ["account", of.account] : ["tool_id", of.toolId];
  const rows = await sql.all(`SELECT ${SUMMARY} FROM evidence WHERE ${column} = $1 ${order} LIMIT $2`, [value, limit]);
  return rows.map(summaryFrom);
}

// Null if there is none of that call, or it was somebody else who was given it.
export async function findEvidence(sql: Reader, callId: string, account?: Address): Promise<KeptEvidence | null> {
  const [row] = await sql.all(
    `SELECT ${SUMMARY}, account, request, response, output_schema, signed_answer FROM evidence WHERE call_id = $1`,
    [callId],
  );
  if (row === undefined || (account !== undefined && row.account !== account)) return null;
  const jsonIn = (column: string) => (row[column] === null ? undefined : (JSON.parse(text(row, column)) as unknown));
  return {
    ...summaryFrom(row),
    request: jsonIn("request"),
    content: jsonIn("response"),
    schema: jsonIn("output_schema"),
    answer: jsonIn("signed_answer"),
  };
}

const summaryFrom = (row: Row): EvidenceSummary => ({
  callId: text(row, "call_id"),
  toolId: text(row, "tool_id"),
  method: text(row, "method"),
  atMs: count(row, "at"),
  problem: text(row, "problems"),
  isSigned: count(row, "is_signed") === 1,
});

const keptOf = (json: string) => (json.length <= MAX_KEPT_LENGTH ? json : null);

import type { Hex } from "viem";
import { count, hex, text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Row, Sql } from "../../settlement/ledger/database/sql.ts";
import type { Hashes } from "../settlement/createSettlementClient.ts";

// What the settlement daemon has to hear of: that a call was delivered and is owed, or that it failed. A row is there from
// before the daemon is told until it has answered.
export type Report = {
  callId: string;
  outcome: "delivered" | "failed";
  hashes: Hashes;
  // The session to close afterwards.
  closes: string | null;
};

export type Unreported = Report & { attempts: number };

export async function insertReport(sql: Sql, report: Report, dueAtMs: number, nowMs: number): Promise<void> {
  const { callId, outcome, hashes, closes } = report;
  const { requestHash, responseHash, schemaHash } = hashes;
  await sql.run(
    `INSERT INTO unreported (call_id, outcome, request_hash, response_hash, schema_hash, closes, created_at, due_at, attempts)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0) ON CONFLICT (call_id) DO NOTHING`,
    [callId, outcome, requestHash, responseHash, schemaHash, closes, nowMs, dueAtMs],
  );
}

export async function deleteReport(sql: Sql, callId: string): Promise<void> {
  await sql.run("DELETE FROM unreported WHERE call_id = $1", [callId]);
}

export async function delayReport(sql: Sql, callId: string, dueAtMs: number): Promise<void> {
  await sql.run("UPDATE unreported SET due_at = $2, attempts = attempts + 1 WHERE call_id = $1", [callId, dueAtMs]);
}

export async function listDueReports(sql: Reader, nowMs: number, limit: number): Promise<Unreported[]> {
  const rows = await sql.all("SELECT * FROM unreported WHERE due_at <= $1 ORDER BY due_at LIMIT $2", [nowMs, limit]);
  return rows.map(unreportedFrom);
}

export async function countReports(sql: Reader): Promise<number> {
  const [row] = await sql.all("SELECT COUNT(*) AS reports FROM unreported");
  return count(row ?? {}, "reports");
}

function unreportedFrom(row: Row): Unreported {
  return {
    callId: text(row, "call_id"),
    outcome: text(row, "outcome") === "delivered" ? "delivered" : "failed",
    hashes: {
      requestHash: hex(row, "request_hash"),
      responseHash: hex(row, "response_hash"),
      schemaHash: hex(row, "schema_hash") as Hex,
    },
    closes: row.closes === null ? null : text(row, "closes"),
    attempts: count(row, "attempts"),
  };
}

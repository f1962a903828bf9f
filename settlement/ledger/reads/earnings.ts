import type { Address } from "viem";
import type { Earning, StatementQuery } from "../../domain/charges/statement.ts";
import type { MicroUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, count, hex } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import { lower, validCount } from "../validate.ts";
import { paged } from "./paged.ts";

export type ToolEarnings = { toolId: ToolId; batches: number; amount: MicroUsdc; developerShare: MicroUsdc };

// Everybody who was ever credited by a final batch.
export function listPayees() {
  return async (sql: Reader): Promise<Address[]> => {
    const rows = await sql.all("SELECT payee FROM payees ORDER BY payee");
    return rows.map((row) => address(row, "payee"));
  };
}

// Of one payee, oldest first. It walks an index, like the charges of a payer.
export function listEarnings(payee: Address, query: StatementQuery) {
  const page = paged(query);
  return async (sql: Reader): Promise<Earning[]> => {
    const rows = await sql.all(
      `SELECT e.*, s.tx_hash FROM earnings e JOIN submissions s ON s.id = e.batch_id
       WHERE e.payee = $1 AND e.settled_at >= $2 AND e.settled_at < $3
         AND (e.settled_at > $2 OR (e.settled_at = $2 AND e.batch_id || SUBSTR(e.tool_id, 3) > $4))
       ORDER BY e.settled_at, e.batch_id, e.tool_id LIMIT $5`,
      [lower(payee), ...page],
    );
    return rows.map(earningFrom);
  };
}

export function listToolEarnings(limit: number, offset: number) {
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<ToolEarnings[]> => {
    const rows = await sql.all(
      `SELECT tool_id, ${EARNED} FROM earnings GROUP BY tool_id ORDER BY tool_id LIMIT $1 OFFSET $2`,
      page,
    );
    return rows.map(toolEarningsFrom);
  };
}

export function findToolEarnings(toolId: ToolId) {
  return async (sql: Reader): Promise<ToolEarnings | null> => {
    const [row] = await sql.all(`SELECT tool_id, ${EARNED} FROM earnings WHERE tool_id = $1 GROUP BY tool_id`, [
      lower(toolId),
    ]);
    return row === undefined ? null : toolEarningsFrom(row);
  };
}

const EARNED =
  "COUNT(*) AS batches, CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(developer_share) AS BIGINT) AS developer_share";

function earningFrom(row: Row): Earning {
  return {
    batchId: hex(row, "batch_id"),
    txHash: hex(row, "tx_hash"),
    toolId: hex(row, "tool_id") as ToolId,
    payee: address(row, "payee"),
    amount: amount(row),
    developerShare: amount(row, "developer_share"),
    settledAtMs: count(row, "settled_at"),
  };
}

function toolEarningsFrom(row: Row): ToolEarnings {
  return {
    toolId: hex(row, "tool_id") as ToolId,
    batches: count(row, "batches"),
    amount: amount(row),
    developerShare: amount(row, "developer_share"),
  };
}

import type { Address } from "viem";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, hex } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { NO_STATS, type Stats, SUMS, statsFrom } from "../database/sums/stats.ts";

export type Totals = {
  accrued: MicroUsdc;
  pending: MicroUsdc;
  settled: MicroUsdc;
  absorbed: MicroUsdc;
  refused: MicroUsdc;
  voided: MicroUsdc;
};

const SETTLED =
  "FROM charges c JOIN submissions s ON s.id = c.batch_id WHERE c.state = 'batched' AND s.state = 'final'";

// By final state of every charge: accrued = pending + settled + absorbed + refused + voided, always.
export function readTotals() {
  return async (sql: Reader): Promise<Totals> => {
    const { accrued, settled, absorbed, refused, voided } = await statsOfAll(sql);
    const pending = microUsdc(accrued - settled - absorbed - refused - voided);
    return { accrued, pending, settled, absorbed, refused, voided };
  };
}

// What each tool was charged in final batches, for comparison with the chain.
export function readSettledByTool() {
  return async (sql: Reader): Promise<{ toolId: ToolId; amount: MicroUsdc }[]> => {
    const rows = await sql.all(
      `SELECT tool_id, CAST(SUM(amount) AS BIGINT) AS amount ${SETTLED} AND tool_id IS NOT NULL
       GROUP BY tool_id ORDER BY tool_id`,
    );
    return rows.map((row) => ({ toolId: hex(row, "tool_id") as ToolId, amount: amount(row) }));
  };
}

// What each account paid in final batches, likewise.
export function readSettledByAccount() {
  return async (sql: Reader): Promise<{ account: Address; amount: MicroUsdc }[]> => {
    const rows = await sql.all(
      `SELECT charged_to, CAST(SUM(amount) AS BIGINT) AS amount ${SETTLED}
       GROUP BY charged_to ORDER BY charged_to`,
    );
    return rows.map((row) => ({ account: address(row, "charged_to"), amount: amount(row) }));
  };
}

export async function statsOfAll(sql: Reader): Promise<Stats> {
  const [row] = await sql.all(`SELECT ${SUMS} FROM totals`);
  return row === undefined ? NO_STATS : statsFrom(row);
}

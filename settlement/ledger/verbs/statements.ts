import type { Address } from "viem";
import type { Charge } from "../../domain/charge.ts";
import type { Session } from "../../domain/session.ts";
import type { Earning, StatementQuery } from "../../domain/statement.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, chargeFrom, count, hex, sessionFrom } from "../decode.ts";
import type { Statements } from "../ledger.ts";
import type { Reader, Row } from "../sql.ts";
import { lower, validAddress, validCount, validTime, validToolId } from "../validate.ts";
import { findHold } from "./hold.ts";

// Pages of what concerns one payer or one payee. Each walks an index and never skips rows to get to its place, so that the
// last page costs what the first does.
export function createStatements(sql: Reader): Statements {
  return {
    async chargesOfPayer(payer, query) {
      const rows = await sql.all(
        `SELECT c.*, s.state AS submission_state
         FROM charges c LEFT JOIN submissions s ON s.id = c.root
         WHERE c.payer = $1 AND c.accrued_at < $3 AND (c.accrued_at > $2 OR (c.accrued_at = $2 AND c.id > $4))
         ORDER BY c.accrued_at, c.id LIMIT $5`,
        [validAddress("the payer", payer), ...paged(query)],
      );
      return rows.map(chargeFrom) satisfies Charge[];
    },
    async newestCharges(payer, before, limit) {
      const { atMs, id } = before ?? { atMs: Number.MAX_SAFE_INTEGER, id: "" };
      const params = [validTime("the place", atMs), lower(id as Address), validCount("the limit", limit)];
      const rows = await sql.all(
        `SELECT c.*, s.state AS submission_state
         FROM charges c LEFT JOIN submissions s ON s.id = c.root
         WHERE (c.accrued_at, c.id) < ($1, $2) ${payer === null ? "" : "AND c.payer = $4"}
         ORDER BY c.accrued_at DESC, c.id DESC LIMIT $3`,
        payer === null ? params : [...params, validAddress("the payer", payer)],
      );
      return rows.map(chargeFrom) satisfies Charge[];
    },
    async earningsOf(payee, query) {
      const rows = await sql.all(
        `SELECT e.*, s.tx_hash FROM earnings e JOIN submissions s ON s.id = e.root
         WHERE e.payee = $1 AND e.settled_at < $3
           AND (e.settled_at > $2 OR (e.settled_at = $2 AND e.root || SUBSTR(e.tool_id, 3) > $4))
         ORDER BY e.settled_at, e.root, e.tool_id LIMIT $5`,
        [validAddress("the payee", payee), ...paged(query)],
      );
      return rows.map(earningFrom);
    },
    async sessionsOfPayer(payer, limit, offset) {
      const rows = await sql.all(
        "SELECT * FROM sessions WHERE payer = $1 ORDER BY opened_at DESC, id LIMIT $2 OFFSET $3",
        [validAddress("the payer", payer), validCount("the limit", limit), validCount("the offset", offset)],
      );
      return rows.map(sessionFrom) satisfies Session[];
    },
    async newestSessions(limit, offset) {
      const rows = await sql.all("SELECT * FROM sessions ORDER BY opened_at DESC, id DESC LIMIT $1 OFFSET $2", [
        validCount("the limit", limit),
        validCount("the offset", offset),
      ]);
      return rows.map(sessionFrom) satisfies Session[];
    },
    async payersByExposure(limit, offset) {
      const rows = await sql.all("SELECT * FROM payers ORDER BY debt DESC, pending DESC, payer LIMIT $1 OFFSET $2", [
        validCount("the limit", limit),
        validCount("the offset", offset),
      ]);
      return rows.map((row) => ({
        payer: address(row, "payer"),
        pending: amount(row, "pending"),
        held: amount(row, "held"),
        debt: amount(row, "debt"),
      }));
    },
    async earningsByTool(limit, offset) {
      const rows = await sql.all(
        `SELECT tool_id, ${EARNED} FROM earnings GROUP BY tool_id ORDER BY tool_id LIMIT $1 OFFSET $2`,
        [validCount("the limit", limit), validCount("the offset", offset)],
      );
      return rows.map(toolEarningsFrom);
    },
    async earningsOfTool(toolId) {
      const [row] = await sql.all(`SELECT tool_id, ${EARNED} FROM earnings WHERE tool_id = $1 GROUP BY tool_id`, [
        validToolId(toolId),
      ]);
      return row === undefined ? null : toolEarningsFrom(row);
    },
    async call(callId) {
      return findHold(sql, callId);
    },
  };
}

const EARNED =
  "COUNT(*) AS batches, CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(developer_share) AS BIGINT) AS developer_share";

// The place is the last line that was shown. Without one, nothing sorts before the empty id.
function paged({ fromMs, toMs, after, limit }: StatementQuery) {
  const start = after ?? { atMs: fromMs, id: "" };
  return [
    validTime("the start", Math.max(start.atMs, fromMs)),
    validTime("the end", toMs),
    lower(start.id as Address),
    validCount("the limit", limit),
  ];
}

function earningFrom(row: Row): Earning {
  return {
    root: hex(row, "root"),
    txHash: hex(row, "tx_hash"),
    toolId: hex(row, "tool_id") as ToolId,
    payee: address(row, "payee"),
    amount: amount(row),
    developerShare: amount(row, "developer_share"),
    settledAtMs: count(row, "settled_at"),
  };
}

function toolEarningsFrom(row: Row) {
  return {
    toolId: hex(row, "tool_id") as ToolId,
    batches: count(row, "batches"),
    amount: amount(row),
    developerShare: amount(row, "developer_share"),
  };
}
